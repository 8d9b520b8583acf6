"""The checks of a run, and what each of them found."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

import msgspec

from trackrecord.learning.advice.failures import is_wanted_failure
from trackrecord.learning.competences.checks import is_check

from ..agent_run import AgentRun, RunCall
from ..shell.checks import ShellCheck, checks_of
from ..shell.edits import edits_of
from ..shell.steps import steps_of
from .summaries import summary_of

# Killed, timed out, not found, or not executable: the check did not come to an end.
_NO_RESULT: Final = frozenset({124, 126, 127, 130, 137, 143, -1, -2, -9, -15})
_PYTEST_RAN_NOTHING: Final = frozenset({4, 5})
_SCRATCH: Final = re.compile(
    r"/(?:tmp|var/tmp|private/tmp|private/var/folders|var/folders|dev/shm)/"
)
_OF_AGENTS: Final = frozenset({".claude", ".codex", ".opencode"})
# A moment of a run: the position of a call, and of a step in its command line.
Moment = tuple[int, int]


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What one check found.

    Attributes:
        name: what verified: "pytest", "npm test", "run_tests".
        at: when.
        passed: whether it passed; None if that cannot be told.
        says: the command, and the words that tell the result.
    """

    name: str
    at: Moment
    passed: bool | None
    says: str


def results_of(run: AgentRun, edited: Moment | None) -> tuple[Result, ...]:
    """Return the results of the checks of a run from its last edit on, in order.

    A check that is the last edit itself, as a linter that mends is, counts among them.
    """
    first = edited or (0, 0)
    return tuple(
        result
        for place in range(first[0], len(run.calls))
        for result in _results(place, run.calls[place])
        if edited is None or result.at >= edited
    )


def last_result_before(run: AgentRun, edited: Moment) -> Result | None:
    """Return the result of the last check in front of an edit; None if there is none."""
    for place in range(min(edited[0], len(run.calls) - 1), -1, -1):
        results = [each for each in _results(place, run.calls[place]) if each.at < edited]
        if results:
            return results[-1]
    return None


def last_edit(run: AgentRun) -> Moment | None:
    """Return when the run changed a file of its work for the last time; None if it did not.

    A call that failed or was refused changed nothing, but a command line that failed may have.
    What is written outside the working folder into a folder for temporary files, or into the
    agent's own, is not part of the work.
    """
    for place in range(len(run.calls) - 1, -1, -1):
        call = run.calls[place]
        steps = [step for step, file in _edits(call) if _is_work(file, call, run)]
        if steps:
            return place, max(steps)
    return None


def _edits(call: RunCall) -> Iterator[tuple[int, str]]:
    if call.ok is not False:
        yield from ((0, file) for file in call.edits)
    if call.command and not _never_ran(call):
        # What a check writes about itself is no change of what it checked.
        checking = {check.place for check in checks_of(call.command)}
        for step, file in edits_of(call.command):
            if not (step in checking and file):
                yield step, file


def _never_ran(call: RunCall) -> bool:
    return call.ok is False and call.exit_code is None and not call.result and bool(call.error)


def _is_work(file: str, call: RunCall, run: AgentRun) -> bool:
    folder = run.folder or call.folder
    if not file.startswith(("/", "~")) or (folder and _is_inside(file, folder)):
        return True
    if _SCRATCH.match(file):
        return False
    return _OF_AGENTS.isdisjoint(PurePosixPath(file).parts)


def _is_inside(file: str, folder: str) -> bool:
    return file.startswith(folder.rstrip("/") + "/")


def _results(place: int, call: RunCall) -> Iterator[Result]:
    if call.command:
        for check in checks_of(call.command):
            yield _of_shell(place, call, check)
    elif is_check(call.tool) and not call.edits:
        yield _of_tool(place, call)


def _of_tool(place: int, call: RunCall) -> Result:
    """A tool that returned normally may well return that two tests failed."""
    summary = summary_of(call.result or call.error)
    passed = call.ok
    if summary is not None and (call.ok is not False or summary.passed is None):
        passed = summary.passed
    says = f"{call.tool}: {summary.says}" if summary else call.tool
    return Result(name=call.tool, at=(place, 0), passed=passed, says=says)


def _of_shell(place: int, call: RunCall, check: ShellCheck) -> Result:
    summary = summary_of(call.result or call.error)
    shown = " ".join(steps_of(call.command)[check.place].words)
    says = f"{shown}: {summary.says}" if summary else shown
    passed = _exit_says(call, check)
    if passed is not None and summary is not None and summary.passed is None and not passed:
        passed = None
    elif passed is None and summary is not None and not _was_killed(call):
        passed = summary.passed
    if is_wanted_failure("", call.command) and passed is False:
        passed = None
    return Result(name=check.name, at=(place, check.place), passed=passed, says=says)


def _exit_says(call: RunCall, check: ShellCheck) -> bool | None:
    code = call.exit_code
    if code is None:
        # Without its status a command is known by whether the agent saw it fail.
        if call.ok is None or _was_killed(call):
            return None
        code = 0 if call.ok else 1
    if code == 0:
        return True if check.passed_at_zero else None
    if code in _NO_RESULT or (check.name == "pytest" and code in _PYTEST_RAN_NOTHING):
        return None
    return False if check.failed_otherwise else None


def _was_killed(call: RunCall) -> bool:
    return call.exit_code in _NO_RESULT or call.ok is None
