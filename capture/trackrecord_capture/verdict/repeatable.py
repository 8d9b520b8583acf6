"""The checks of a call as others may repeat them: which kind, whether they started, by which line.

What works in a repository, and what never starts there, is counted from these.
"""

import posixpath
import re
import shlex
from collections.abc import Sequence, Set
from typing import Final, Literal

from trackrecord.learning.text.redaction import redacted
from trackrecord.wire.outcome import CallCheck

from ..agent_run import AgentRun, RunCall
from ..shell.checks import ShellCheck
from ..shell.command_line import commands_of
from ..shell.programs import Purpose
from ..shell.purposes import purpose_of
from ..shell.steps import ShellStep, steps_of
from .checks import Result, results_by_call

CheckKind = Literal["test", "lint", "type check", "build", "check"]

LONGEST_LINE: Final = 300
_MOST_CHECKS: Final = 8
_MOST_ABOVE: Final = 2
# Steps that only prepare the shell in which the check runs.
_PREPARES: Final = re.compile(
    r"(?:source|\.|export|nvm|fnm|pyenv|rbenv|conda|workon)[ \t]|[A-Za-z_]\w{0,127}=\S*\Z"
)
_PRINTS: Final = frozenset({"echo", "printf", "pwd", "true", "date", "set"})
# What another shell would replace by something else than this one did.
_EXPANDED: Final = re.compile(r"`|\$\(|[<>]\(|[\n\r]|\\\Z")
_VARIABLE: Final = re.compile(r"\$\{?(\w{0,128})")
_ASSIGNED: Final = re.compile(r"(?:\A|\s)([A-Za-z_]\w{0,127})=")
_OF_ALL_SHELLS: Final = frozenset({"HOME", "PATH", "PWD", "USER", "SHELL", "TMPDIR"})
# A path that is another one on another machine.
_OF_MACHINE: Final = re.compile(
    r"(?:\A|[\s=\"':])(?:/(?!/|dev/|usr/|bin/|opt/|etc/)|[A-Za-z]:[\\/])"
)
_DRIVE: Final = re.compile(r"\A([A-Za-z]):(?=/)")
_KINDS: Final[dict[Purpose, CheckKind]] = {
    Purpose.TEST: "test",
    Purpose.LINT: "lint",
    Purpose.TYPE_CHECK: "type check",
    Purpose.BUILD: "build",
}


def checks_by_call(run: AgentRun) -> dict[int, list[CallCheck]]:
    """Return the checks of each call of a run's shell that has any, by the call's position."""
    found: dict[int, list[CallCheck]] = {}
    folder = _base(run)
    for place, results in results_by_call(run).items():
        call = run.calls[place]
        if call.command and call.ok is not None:
            found[place] = call_checks(call, results, folder)
    return found


def _base(run: AgentRun) -> str:
    """Return the folder that lines start from: the run's own, or one above it that calls ran in.

    An agent that is started in a part of a repository runs its checks above it.
    """
    above = {
        call.folder
        for call in run.calls
        if call.folder and run.folder.startswith(call.folder.rstrip("/") + "/")
    }
    levels = ((run.folder[len(each.rstrip("/")) :].count("/"), each) for each in above)
    return max((each for each in levels if each[0] <= _MOST_ABOVE), default=(0, run.folder))[1]


def call_checks(call: RunCall, results: Sequence[Result], folder: str) -> list[CallCheck]:
    """Return the checks of a call of a shell, as the wire has them.

    Args:
        call: the call.
        results: what its checks found, in order.
        folder: the folder that the run works in; "" if unknown.
    """
    lines = _Lines(call, folder, {result.check.place for result in results})
    steps = steps_of(call.command)
    found, has_stopped = [], False
    for result in results[:_MOST_CHECKS]:
        state = None if has_stopped else result.state
        has_stopped = has_stopped or state != "passed"
        found.append(
            CallCheck(
                kind=kind_of(result.check, steps),
                state=state,
                line=lines.of(result.check.place),
                is_whole=result.check.scope.is_whole,
            )
        )
    return found


def kind_of(check: ShellCheck, steps: Sequence[ShellStep]) -> CheckKind:
    """Return what a check of a command line checks.

    Args:
        check: the check.
        steps: the steps of its line.
    """
    purpose = purpose_of(steps[check.place])
    return _KINDS.get(purpose, "test" if check.of_tests else "check")


class _Lines:
    """The lines by which single checks of a call could be run again.

    Args:
        call: the call.
        folder: the folder that the run works in; "" if unknown.
        checks: the positions of its checks among its steps.
    """

    def __init__(self, call: RunCall, folder: str, checks: Set[int]) -> None:
        commands, steps = commands_of(call.command), steps_of(call.command)
        # A step inside of another shell's line is none that can be told alone.
        is_plain = [each.words[-1:] for each in commands] == [[*each.words[-1:]] for each in steps]
        self._commands = commands if is_plain else ()
        self._is_shown = not any(command.reads for command in commands)
        self._checks, self._folder = checks, folder
        self._began_in = "."
        if call.folder and folder:
            began = posixpath.relpath(_with_slashes(call.folder), _with_slashes(folder))
            self._began_in = "" if began.startswith("..") else began

    def of(self, place: int) -> str:
        """Return the line that runs the check at a position; "" where none may be told."""
        if not self._is_shown or place >= len(self._commands):
            return ""
        where, parts = self._began_in, list[str]()
        for at, command in enumerate(self._commands[:place]):
            words = command.words
            if command.joined not in ("&&", ";") or not words:
                return ""
            if words[0] == "cd":
                where = self._moved(where, words[1:])
            elif _PREPARES.match(command.text):
                parts.append(command.text)
            elif words[0] not in _PRINTS and at not in self._checks:
                return ""
        parts.append(self._commands[place].text)
        if not where:
            return ""
        if where == "." and self._folder:
            # As they are seen from the folder of the run.
            parts = [part.replace(f"{self._folder}/", "") for part in parts]
        elif where != ".":
            parts.insert(0, shlex.join(["cd", where]))
        line = " && ".join(parts)
        is_shown = len(line) <= LONGEST_LINE and _is_same_elsewhere(line)
        return line if is_shown and redacted(line) == line else ""

    def _moved(self, where: str, to: Sequence[str]) -> str:
        """Return the folder after `cd`, as seen from the run's; "" if it lies elsewhere."""
        if len(to) != 1 or "$" in to[0] or _EXPANDED.search(to[0]) or not where:
            return ""
        to_folder = _with_slashes(to[0])
        if ":" in to_folder:
            return ""
        if to_folder.startswith("/"):
            folder = _with_slashes(self._folder)
            moved = posixpath.relpath(to_folder, folder) if folder else ".."
        else:
            moved = posixpath.normpath(posixpath.join(where, to_folder))
        return "" if moved.startswith("..") else moved


def _with_slashes(path: str) -> str:
    r"""Return a path as bash writes it: `D:\src` as `/d/src`."""
    if "\\" not in path and ":" not in path:
        return path
    return _DRIVE.sub(lambda found: f"/{found[1].lower()}", path.replace("\\", "/"))


def _is_same_elsewhere(line: str) -> bool:
    """Return whether a line means the same in another shell: all that it uses, it sets."""
    known = _OF_ALL_SHELLS.union(_ASSIGNED.findall(line))
    is_moved = _EXPANDED.search(line) or _OF_MACHINE.search(line)
    return not is_moved and known.issuperset(_VARIABLE.findall(line))
