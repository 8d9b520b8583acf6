"""Read a git repository: bounded, changing nothing, and running nothing that it names.

A repository may be anybody's. Its configuration can name programs for many occasions: pagers,
filters, signatures, hooks, file system monitors, ways to fetch. Only git's plumbing is called,
which compares objects and no files, and each of these occasions is switched off besides. Objects
that are missing are not fetched, and no lock is taken.
"""

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

_PATIENCE_S: Final = 5.0
_MOST_BYTES: Final = 8 * 1024 * 1024
_MOST_COMMITS: Final = 20_000
_HASH: Final = 40
_OPTIONS: Final = (
    "--no-pager",
    "--no-replace-objects",
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.pager=cat"),
    *("-c", "log.showSignature=false"),
    *("-c", "protocol.allow=never"),
    *("-c", "gc.auto=0"),
)
# Where somebody who works on the repository takes back what is in it: no fork's branches.
_OWN_BRANCHES: Final = ("HEAD", "--branches", "--remotes=origin")


class GitUnread(Exception):
    """Raised when git does not answer in time, says too much, or refuses."""


class CommitFacts(NamedTuple):
    """The parts of a commit that tell what it reverts.

    Attributes:
        hash: its full hash.
        at: when it was committed, seconds since the epoch.
        text: its message.
    """

    hash: str
    at: float
    text: str = ""


class GitReading:
    """Answers questions about a repository.

    Args:
        tree: its main working tree, or its folder if it is bare.
        patience_s: how long all questions together may take.
    """

    def __init__(self, tree: Path, patience_s: float = _PATIENCE_S) -> None:
        self._tree = tree
        self._deadline = time.monotonic() + patience_s

    def state(self) -> bytes:
        """Return a text that changes whenever a branch, a tag or the head moves.

        Raises:
            GitUnread: as all methods do.
        """
        return self._ask("show-ref", "--head", may_fail=True)

    def known(self, commits: Sequence[str]) -> dict[str, str]:
        """Return the full hashes of the commits that the repository has, by how they are spelt."""
        asked = "".join(f"{commit}^{{commit}}\n" for commit in commits)
        lines = self._ask("cat-file", "--batch-check=%(objectname)", given=asked.encode())
        found = zip(commits, lines.decode(errors="replace").splitlines(), strict=False)
        return {commit: line for commit, line in found if _is_hash(line)}

    def reverts(self, since: float) -> list[CommitFacts]:
        """Return the commits since a moment that say of themselves that they revert another one."""
        says = ("--fixed-strings", "--grep=This reverts commit ")
        return self._commits("%B", (f"--since=@{int(since)}", *says, *_OWN_BRANCHES))

    def moments(self, commits: Sequence[str]) -> list[float]:
        """Return when commits were made, seconds since the epoch."""
        return [each.at for each in self._commits("", ("--no-walk", *commits))] if commits else []

    def _commits(self, text: str, asked: Iterable[str]) -> list[CommitFacts]:
        form = f"--format=%x00%H%n%ct%n{text}"
        told = self._ask("rev-list", f"--max-count={_MOST_COMMITS}", form, *asked)
        return list(filter(None, map(_facts, told.decode(errors="replace").split("\0")[1:])))

    def _ask(self, *arguments: str, given: bytes = b"", may_fail: bool = False) -> bytes:
        program = shutil.which("git")
        left = self._deadline - time.monotonic()
        if program is None or not Path(program).is_absolute() or left <= 0:
            raise GitUnread
        try:
            process = subprocess.Popen(  # noqa: S603 - git itself, with words of ours
                [program, "-C", str(self._tree), *_OPTIONS, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_variables(),
                cwd="/",
                start_new_session=True,
            )
        except OSError:
            raise GitUnread from None
        patience = threading.Timer(left, _end, (process.pid,))
        patience.start()
        with process:
            told = _exchanged(process, given)
            if len(told) > _MOST_BYTES:
                _end(process.pid)
        patience.cancel()
        if process.returncode < 0 or (process.returncode and not may_fail):
            raise GitUnread
        return told


def _exchanged(process: subprocess.Popen[bytes], given: bytes) -> bytes:
    """Give a process its input, for which a pipe has room, and return the output up to the most."""
    assert process.stdin is not None  # noqa: S101 - a pipe, as asked for
    assert process.stdout is not None  # noqa: S101 - a pipe, as asked for
    with suppress(BrokenPipeError), process.stdin:
        process.stdin.write(given)
    return process.stdout.read(_MOST_BYTES + 1)


def _end(group: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def _variables() -> dict[str, str]:
    """Return git's variables: nothing of the agent's, nothing that asks, writes or fetches."""
    kept = {
        name: os.environ[name] for name in ("HOME", "PATH", "XDG_CONFIG_HOME") if name in os.environ
    }
    return kept | {
        "LC_ALL": "C",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        # No protocol has this name, so that none is allowed.
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_SSH_COMMAND": "false",
        "GIT_ASKPASS": "false",
        "GIT_PAGER": "cat",
    }


def _facts(told: str) -> CommitFacts | None:
    hashed, _, rest = told.partition("\n")
    at, _, text = rest.partition("\n")
    # What follows is rev-list's own line for the next commit.
    return CommitFacts(hashed, float(at), text) if _is_hash(hashed) and at.isdigit() else None


def _is_hash(text: str) -> bool:
    return len(text) >= _HASH and all(digit in "0123456789abcdef" for digit in text)
