"""The checks of a run, and what each of them found."""

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Final, Literal

import msgspec

from trackrecord.learning.advice.runs.failures import error_line, has_not_started, is_wanted_failure
from trackrecord.learning.competences.episodes.checks import is_check

from ..agent_run import AgentRun, RunCall
from ..shell.checks import ShellCheck, checks_of
from ..shell.edits import CHANGES, edits_of
from ..shell.names import LOOKS, TRIVIAL
from ..shell.programs import CHECKING, Purpose
from ..shell.purposes import OwnChecks, own_checks, purpose_of
from ..shell.scopes import joined_folder, scope_of
from ..shell.steps import ShellStep, steps_of
from .summaries import OutputPart, OutputSummary, has_finding, has_test_result, part_of, summary_of

# Killed, timed out, not found, or not executable: the check did not come to an end.
_NO_RESULT: Final = frozenset({124, 126, 127, 130, 137, 143, -1, -2, -9, -15})
_SEVERAL: Final = 2
_LONGEST_READ: Final = 4096
_COULD_NOT_RUN: Final = frozenset({126, 127})
# A longer output is that of a check that ran, whatever its tests print.
_FEW_LINES: Final = 20
# What launchers say at last pushes what the check itself says out of fewer lines.
_ENOUGH_LINES: Final = 10
_PYTEST_RAN_NOTHING: Final = frozenset({4, 5})
_PYTEST_REFUSED: Final = 4
# No more than that it failed, as Claude Code's events have it.
_ONLY_FAILED: Final = re.compile(
    r"\s*(?:Error: )?(?:(?:Shell )?command failed(?: with)?|process exited with)?\s*"
    r"(?:exit (?:code|status)|code)?:? ?\d{0,10}[.\s]*\Z",
    re.IGNORECASE,
)
_STOPS: Final = TRIVIAL | LOOKS | CHANGES
# In front of the name of what failed: "/bin/bash: line 1: cd: ", "(eval):cd:1: ".
_SHELL_SAYS: Final = r"^(?:[^\s:]{1,80}:\s?(?:(?:line )?\d{1,5}:\s)?)?"
_SCRATCH: Final = re.compile(
    r"/(?:tmp|var/tmp|private/tmp|private/var/folders|var/folders|dev/shm)/"
)
# A moment of a run: the position of a call, and of a step in its command line. Those of the calls
# of a sub-agent follow each other within the call that started it.
Moment = tuple[int, int]
_STEPS_OF_CALL: Final = 1000


CheckState = Literal["passed", "ran", "not started"]


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one check.

    Attributes:
        check: what verified, and on what.
        at: when.
        passed: whether it passed; None if that cannot be told.
        says: the command, and the words that tell the result.
        words: these words alone; "" if only the exit status tells it.
        is_hidden: whether it ran tests of which nothing is seen, so that they may have failed.
        state: "passed", "ran" with another result, or "not started"; None if that is not known.
    """

    check: ShellCheck
    at: Moment
    passed: bool | None
    says: str
    words: str = ""
    is_hidden: bool = False
    state: CheckState | None = None


def results_since(run: AgentRun, changed: Moment | None) -> tuple[Result, ...]:
    """Return the results of the checks of a run from its last edit on, in order.

    A check that is the last edit itself, as a linter that mends is, counts among them. What a
    sub-agent checked counts for the run once anything was changed.
    """
    first = changed or (0, 0)
    places = range(first[0], len(run.calls))
    with_sub_agents = changed is not None
    results = _results_at(run, places, with_sub_agents=with_sub_agents)
    since = (each for each in results if each.at >= first)
    return tuple(each for each in since if changed is None or _is_near(each, run))


def results_before(run: AgentRun, changed: Moment | None) -> tuple[Result, ...]:
    """Return the results of the checks in front of the last edit, in order."""
    if changed is None:
        return ()
    places = range(min(changed[0] + 1, len(run.calls)))
    results = _results_at(run, places, with_sub_agents=True)
    return tuple(each for each in results if each.at < changed and _is_near(each, run))


def _is_near(result: Result, run: AgentRun) -> bool:
    """Return whether a check ran in the folders of the work, or in what holds them.

    These are the run's own folder, and those of the files that it changed.
    """
    targets = {each.rpartition("@")[2].lstrip("=") for each in result.check.scope.targets}
    places = [each for each in targets if each.startswith("/") and not each.startswith("//")]
    if not run.folder.startswith("/") or not places or _overlap([run.folder], places):
        return True
    own = own_checks(run.own_checks)
    files = [file for call in run.calls for _, file in _edits(call, own) if file.startswith("/")]
    return _overlap(map(posixpath.dirname, files), places)


def _overlap(folders: Iterable[str], places: Sequence[str]) -> bool:
    """Return whether one of the places lies in a folder, or a folder in one of them."""
    return any(
        _is_inside(f"{place}/", folder) or _is_inside(f"{folder}/", place)
        for folder in folders
        for place in places
    )


def results_by_call(run: AgentRun) -> dict[int, list[Result]]:
    """Return what the checks of each call found, by the position of the call; in order."""
    found: dict[int, list[Result]] = {}
    for result in _results_at(run, range(len(run.calls))):
        found.setdefault(result.at[0], []).append(result)
    return found


def findings_of(run: AgentRun) -> frozenset[int]:
    """Return the positions of the failed calls that are checks which ran and found something.

    Failing tests and findings are work, and no failure of the call. A check that did not start, as
    its words say, has found nothing.
    """
    failed = [place for place, call in enumerate(run.calls) if call.ok is False]
    return frozenset(result.at[0] for result in _results_at(run, failed) if _has_found(run, result))


def _has_found(run: AgentRun, result: Result) -> bool:
    # Another tool that is named after a check may have failed for reasons of its own.
    return result.passed is False and bool(result.words or run.calls[result.at[0]].command)


def _results_at(
    run: AgentRun, places: Iterable[int], *, with_sub_agents: bool = False
) -> Iterator[Result]:
    folder, own = run.folder or _common_folder(run.calls), own_checks(run.own_checks)
    for place in places:
        call = run.calls[place]
        yield from _results(place, call, call.folder or folder, own)
        for number, inner in enumerate(_inner(call) if with_sub_agents else (), start=1):
            for result in _results(place, inner, inner.folder or folder, own):
                at = place, number * _STEPS_OF_CALL + result.at[1]
                yield msgspec.structs.replace(result, at=at)


def _inner(call: RunCall) -> tuple[RunCall, ...]:
    """Return the calls of the sub-agent that a call started."""
    return (call.sub_agent.calls or ()) if call.sub_agent is not None else ()


def _common_folder(calls: Sequence[RunCall]) -> str:
    """Return the folder that all commands change to, where the source names none; "" if unknown."""
    folders = {
        step.words[1].rstrip("/")
        for call in calls
        if "cd /" in call.command
        for step in steps_of(call.command)
        if step.words[:1] == ("cd",) and step.words[1:] and step.words[1].startswith("/")
    }
    return posixpath.commonpath(folders).rstrip("/") if folders else ""


def last_edit(run: AgentRun) -> Moment | None:
    """Return when the run changed a file of its work for the last time; None if it did not.

    A call that failed or was refused changed nothing, but a command line that failed may have.
    What is written outside the working folder into a folder for temporary files, or into the
    agent's own, is not part of the work.
    """
    places = range(len(run.calls) - 1, -1, -1)
    return next((max(moments) for place in places if (moments := _edited_at(run, place))), None)


def first_edit(run: AgentRun) -> Moment | None:
    """Return when the run changed a file of its work for the first time; see `last_edit`."""
    places = range(len(run.calls))
    return next((min(moments) for place in places if (moments := _edited_at(run, place))), None)


def edited_files(run: AgentRun) -> frozenset[str]:
    """Return the files of the work that a run changed; none if it does not name all of them."""
    own = own_checks(run.own_checks)
    files = {
        joined_folder(each.folder or run.folder, file) if file else ""
        for call in run.calls
        for each in (call, *_inner(call))
        for _, file in _edits(each, own)
        if _is_work(file, each, run)
    }
    return frozenset() if "" in files else frozenset(files)


def _edited_at(run: AgentRun, place: int) -> list[Moment]:
    """Return when a call, or one of the sub-agent that it started, changed files of the work."""
    own, call = own_checks(run.own_checks), run.calls[place]
    return [
        (place, number * _STEPS_OF_CALL + step)
        for number, each in enumerate((call, *_inner(call)))
        for step, file in _edits(each, own)
        if _is_work(file, each, run)
    ]


def _edits(call: RunCall, own: OwnChecks) -> Iterator[tuple[int, str]]:
    if call.ok is not False:
        yield from ((0, file) for file in call.edits)
    if call.command and not _never_ran(call) and (edits := edits_of(call.command)):
        # What a check writes about itself is no change of what it checked, nor is a copy of that.
        steps = steps_of(call.command)
        checking = {at for at, step in enumerate(steps) if purpose_of(step, own) in CHECKING}
        checking |= {at + 1 for at in checking if steps[at + 1 : at + 2] and _is_copied(steps, at)}
        yield from (edit for edit in edits if not (edit[0] in checking and edit[1]))


def _is_copied(steps: Sequence[ShellStep], place: int) -> bool:
    """Return whether the output of a step goes through `tee`."""
    return steps[place].joined in ("|", "&&") and steps[place + 1].words[:1] == ("tee",)


def _never_ran(call: RunCall) -> bool:
    return not call.ok and call.exit_code is None and not call.result and bool(call.error)


def _is_work(file: str, call: RunCall, run: AgentRun) -> bool:
    folder = run.folder or call.folder
    if not file.startswith(("/", "~")) or (folder and _is_inside(file, folder)):
        return True
    if _SCRATCH.match(file):
        return False
    # The agent's own folder is named after it: ".claude" of "claude-code".
    return f".{run.agent.partition('-')[0]}" not in PurePosixPath(file).parts


def _is_inside(file: str, folder: str) -> bool:
    return file.startswith(folder.rstrip("/") + "/")


def _results(place: int, call: RunCall, folder: str, own: OwnChecks) -> Iterator[Result]:
    if call.command:
        if checks_of(call.command, folder, own):
            # What else is known of it does not count, and may have no hash.
            seen = msgspec.structs.replace(call, arguments=None, sub_agent=None)
            yield from _of_shell(place, seen, folder, own)
    elif is_check(call.tool) and not call.edits:
        yield _of_tool(place, call)


def _of_tool(place: int, call: RunCall) -> Result:
    """A tool that returned normally may well return that two tests failed."""
    arguments = call.arguments if isinstance(call.arguments, dict) else {}
    check = ShellCheck(
        name=call.tool,
        place=0,
        scope=scope_of(call.tool, tuple(f"{name}={each}" for name, each in arguments.items()), ""),
        purpose=Purpose.TEST,
        passed_at_zero=True,
        failed_otherwise=True,
    )
    summary = summary_of(call.result or call.error)
    passed = call.ok
    if summary is not None and (call.ok is not False or summary.passed is None):
        passed = summary.passed
    says = f"{call.tool}: {summary.says}" if summary else call.tool
    words = summary.says if summary else ""
    return Result(check=check, at=(place, 0), passed=passed, says=says, words=words)


def _never_reached(steps: Sequence[ShellStep], place: int, output: str) -> bool:
    """Return whether a step in front says that it failed, as `cd` does, and "&&" ended there."""
    while place > 0 and steps[place - 1].joined == "&&":
        place -= 1
        name = steps[place].words[0] if steps[place].words else ""
        if name in _STOPS and re.search(rf"{_SHELL_SAYS}{re.escape(name)}:", output, re.MULTILINE):
            return True
    return False


# The verdict, the findings and the repeatable checks of a run ask for the same calls in turn.
@lru_cache(maxsize=512)
def _of_shell(place: int, call: RunCall, folder: str, own: OwnChecks) -> tuple[Result, ...]:
    return tuple(_judged(place, call, checks_of(call.command, folder, own)))


def _judged(place: int, call: RunCall, checks: tuple[ShellCheck, ...]) -> Iterator[Result]:
    steps, output = steps_of(call.command), _printed(call)
    checks = tuple(
        each
        for each in checks
        if not (each.is_by_name and not has_test_result(output))
        and not _never_reached(steps, each.place, output)
    )
    is_wanted = is_wanted_failure("", call.command)
    is_mixed = len({check.of_tests for check in checks}) > 1
    kinds = [check.of_tests if check.of_tests or is_mixed else None for check in checks]
    found = [
        _found(call, check, output, of_tests) for check, of_tests in zip(checks, kinds, strict=True)
    ]
    for check, (passed, summary) in zip(checks, _first_to_fail(checks, found), strict=True):
        shown = " ".join(steps[check.place].words)
        state = _state(call, check, passed, summary, output)
        has_failed = passed is False and state != "not started" and not is_wanted
        yield Result(
            check=check,
            at=(place, check.place),
            passed=passed or (False if has_failed else None),
            says=f"{shown}: {summary.says}" if summary else shown,
            words=summary.says if summary else "",
            is_hidden=all(each is None for each in (passed, summary, state))
            and _may_have_run(call, check),
            state=state,
        )


def _state(
    call: RunCall,
    check: ShellCheck,
    passed: bool | None,
    summary: OutputSummary | None,
    output: str,
) -> CheckState | None:
    """Return whether a check started, and passed.

    Tests that failed have started if their output holds a result of theirs; other checks if it
    holds a finding, or nothing says that they have not. So it is where no status is known.
    """
    if passed:
        return "passed"
    is_refused = check.name == "pytest" and call.exit_code == _PYTEST_REFUSED and summary is None
    if is_refused or call.exit_code in _COULD_NOT_RUN:
        return "not started"
    if passed is False and _shows_tests(call, check, output):
        return "ran" if has_test_result(output) else "not started"
    if passed is False and summary is not None:
        return "ran"
    is_seen = part_of(output, check.tail) is not OutputPart.SOME
    is_short = call.ok is False or output.count("\n") < _FEW_LINES
    has_found = has_test_result(output) if check.of_tests else has_finding(output)
    if is_seen and is_short and not has_found and has_not_started(error_line(output)):
        return "not started"
    return None


def _shows_tests(call: RunCall, check: ShellCheck, output: str) -> bool:
    """Return whether the result of tests would be seen, had a runner of tests started."""
    if not check.of_tests or check.is_script or _ONLY_FAILED.match(output):
        return False
    part = part_of(output, check.tail)
    if _exit_says(_exit_code(call, check, output), check) is None:
        # Only words say that it failed, and tests print any.
        return part is OutputPart.WHOLE and output.count("\n") < _ENOUGH_LINES
    is_enough = check.tail is None or check.tail >= _ENOUGH_LINES
    return part is OutputPart.WHOLE or (part is OutputPart.END and is_enough)


def _may_have_run(call: RunCall, check: ShellCheck) -> bool:
    """Return whether a check ran tests, of whose result nothing is seen."""
    is_empty = check.name == "pytest" and call.exit_code in _PYTEST_RAN_NOTHING
    return check.of_tests and not is_empty and not _never_ran(call)


def _found(
    call: RunCall, check: ShellCheck, output: str, of_tests: bool | None
) -> tuple[bool | None, OutputSummary | None]:
    """Return whether a check passed, and the words that show it."""
    code = _exit_code(call, check, output)
    summary = summary_of(output, part_of(output, check.tail), of_tests=of_tests)
    passed = _exit_says(code, check)
    if summary is None or code in _NO_RESULT or (check.status == "" and _was_killed(call)):
        return passed, summary
    is_told = summary.passed is not False or check.is_script or not check.of_tests
    if passed is None and not is_told and not has_test_result(output):
        return None, None  # that something failed says its launcher, and not of what
    # Who ran nothing ends with 0 as well; a test that fails and is ignored, too.
    if passed is None or summary.passed is None:
        return summary.passed, summary
    if passed and summary.passed is False:
        is_of_tests = summary.of_tests and check.of_tests
        return False if is_of_tests and not _is_alone(call.command) else None, summary
    return passed, summary


def _is_alone(line: str) -> bool:
    """Return whether a line runs nothing but one check, whose status is then its own."""
    steps = [step for step in steps_of(line) if step.words and step.words[0] not in TRIVIAL]
    return len(steps) == 1


def _printed(call: RunCall) -> str:
    """Return the output without the lines that the command line prints by itself."""
    output = call.result or call.error
    if "echo" not in call.command and "printf" not in call.command:
        return output
    words = [step.words for step in steps_of(call.command) if step.words]
    said = {" ".join(each[1:]).strip() for each in words if each[0] in ("echo", "printf")}
    if not said:
        return output
    return "\n".join(line for line in output.splitlines() if line.strip() not in said)


def _exit_code(call: RunCall, check: ShellCheck, output: str) -> int | None:
    """Return the exit status of the part of the line that a check ends; None if unknown."""
    if check.status:
        found = re.findall(check.status, output[-_LONGEST_READ:], re.MULTILINE)
        return int(found[-1]) if found else None
    if call.exit_code is None and call.ok is not None:
        # Without its status a command is known by whether the agent saw it fail.
        return 0 if call.ok else 1
    return call.exit_code


def _exit_says(code: int | None, check: ShellCheck) -> bool | None:
    if code == 0:
        return True if check.passed_at_zero else None
    if code is None or code in _NO_RESULT:
        return None
    if check.name == "pytest" and code in _PYTEST_RAN_NOTHING:
        return None
    return False if check.failed_otherwise else None


def _was_killed(call: RunCall) -> bool:
    # Of what a person ran, only the output may be known.
    is_unknown = call.ok is None and call.actor == "agent"
    return call.exit_code in _NO_RESULT or is_unknown


def _first_to_fail(
    checks: tuple[ShellCheck, ...], found: list[tuple[bool | None, OutputSummary | None]]
) -> list[tuple[bool | None, OutputSummary | None]]:
    """Find which of several checks joined by "&&" failed, as far as their output shows.

    Those before it passed, and those behind it did not run.
    """
    failed = [place for place, (passed, _) in enumerate(found) if passed is False]
    if len(failed) < _SEVERAL or not all(checks[place].failed_otherwise for place in failed):
        return found
    words = next((words for _, words in found if words is not None and words.passed is False), None)
    if words is None:
        return found
    first = next((at for at in failed if checks[at].of_tests is words.of_tests), None)
    if first is None:
        return found
    return [
        found[at] if at not in failed or at == first else (True if at < first else None, None)
        for at in range(len(found))
    ]
