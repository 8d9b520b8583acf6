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
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

_PATIENCE_S: Final = 5.0
_MOST_BYTES: Final = 8 * 1024 * 1024
_MOST_COMMITS: Final = 20_000
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


class RevertingCommit(NamedTuple):
    """A commit that says of itself that it reverts another one.

    Attributes:
        hash: its full hash.
        text: its message.
    """

    hash: str
    text: str


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

    def has(self, commits: Iterable[str]) -> bool:
        """Return whether the repository has one of the commits."""
        ask = partial(self._ask, "rev-parse", "--verify", "--quiet", may_fail=True)
        return any(ask(f"{commit}^{{commit}}") for commit in commits)

    def reverts(self, since: float) -> list[RevertingCommit]:
        """Return the commits since a moment that revert others."""
        told = self._ask(
            "rev-list",
            f"--max-count={_MOST_COMMITS}",
            f"--since=@{int(since)}",
            "--format=%x00%H%n%B",
            "--fixed-strings",
            "--grep=This reverts commit ",
            *_OWN_BRANCHES,
        )
        each = (commit.partition("\n") for commit in told.decode(errors="replace").split("\0")[1:])
        return [RevertingCommit(hashed, text) for hashed, _, text in each]

    def _ask(self, *arguments: str, may_fail: bool = False) -> bytes:
        program = shutil.which("git")
        left = self._deadline - time.monotonic()
        if program is None or not Path(program).is_absolute() or left <= 0:
            raise GitUnread
        try:
            process = subprocess.Popen(  # noqa: S603 - git itself, with words of ours
                [program, "-C", str(self._tree), *_OPTIONS, *arguments],
                stdin=subprocess.DEVNULL,
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
        assert process.stdout is not None  # noqa: S101 - a pipe, as asked for
        with process:
            told = process.stdout.read(_MOST_BYTES + 1)
            if len(told) > _MOST_BYTES:
                _end(process.pid)
        patience.cancel()
        if process.returncode < 0 or (process.returncode and not may_fail):
            raise GitUnread
        return told


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
