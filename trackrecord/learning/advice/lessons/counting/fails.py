"""Failures: which error a tool fails with, in several tasks."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ....text.inert import identifier
from ...runs.runs import RunStep
from ..finding import Finding
from ..history import History, may_fail
from ..lesson import LessonKind
from ..rules import LessonRules
from ..span import span_of
from ..wording import counted, error_text, named, of_all, tool_text
from .errors import ToolError, errors_of, joined_errors

_MOSTLY: Final = 0.5
# So many of the calls that did not start were called in one way, if that is why.
_NEARLY_ALL: Final = 0.9
_SHELL: Final = "shell:"
# Of more errors, those of most tasks are looked at.
_MOST_CANDIDATES: Final = 1000
# What fails so much more often since its first failure is told from then on.
_LATELY: Final = 2.0


def find_failures(history: History, rules: LessonRules) -> Iterator[Finding]:
    """Yield the errors that each tool fails with in enough tasks."""
    found = [
        (len(history.tasks_of(error.positions)), caller, error, most_often)
        for caller, errors in errors_of(history).items()
        for error, most_often in _candidates(errors, history.counts[caller])
    ]
    enough = [each for each in found if each[0] >= rules.min_tasks]
    enough.sort(key=lambda each: (-each[0], history.callers[each[1]], each[2].template))
    for _, caller, error, most_often in enough[:_MOST_CANDIDATES]:
        if _is_lesson(history, caller, error) and _tells(history, caller, error):
            yield _finding(history, caller, error, most_often=most_often)


def _candidates(
    errors: list[ToolError], calls: int
) -> Iterator[tuple[ToolError, ToolError | None]]:
    """Yield a tool's significant errors, with the commonest one if it fails often."""
    failing = sum(error.calls for error in errors)
    named = [error for error in errors if error.words]
    # Where no error stands for most of its failures, a tool that mostly fails does so at large.
    if failing >= _MOSTLY * calls and all(error.calls < _MOSTLY * failing for error in named):
        most_often = (named or errors)[0]
        yield joined_errors(errors, most_often), most_often
    yield from ((error, None) for error in named)


def _is_lesson(history: History, caller: int, error: ToolError) -> bool:
    if not may_fail(history.callers[caller].tool) or error.is_stuck:
        return True
    # Tests and builds that fail at times do what they are there for.
    return error.calls >= _MOSTLY * _calls_between(
        history, caller, error.positions[0], error.positions[-1]
    )


def _tells(history: History, caller: int, error: ToolError) -> bool:
    """Return whether it is known what goes wrong, or the tool mostly fails so."""
    return bool(error_text(error.template)) or error.calls >= _MOSTLY * history.counts[caller]


def _calls_between(history: History, caller: int, first: int, last: int) -> int:
    """Return how many calls a caller made from one run to another."""
    runs = history.runs_with[caller]
    return sum(history.calls[each].count(caller) for each in runs if first <= each <= last)


def _finding(
    history: History, caller: int, error: ToolError, *, most_often: ToolError | None = None
) -> Finding:
    """Return the finding about one error, or about all errors of a tool and the commonest one."""
    who, using = history.callers[caller], history.runs_with[caller]
    positions = sorted(set(error.positions))
    tasks, failing = len(history.tasks_of(positions)), error.calls
    calls, is_last = _calls(history, caller, error)
    span = span_of(history, using, positions)
    english, chinese = tool_text(who)
    way = None if most_often else _way(history, caller, error)
    if way is not None:
        calls, failing, is_last = way.calls, min(failing, way.failing), False
        english = chinese = way.name
    in_english, in_chinese = _said(error, most_often)
    said = {
        "en": f"{english} failed in {of_all(failing, calls, 'calls', is_last=is_last)}, in "
        f"{counted(tasks, 'tasks')}",
        "zh": f"{chinese} 的{'最近' if is_last else ''} {calls} 次调用中有 {failing} 次失败,"
        f"涉及 {tasks} 个任务",
    }
    lines = {"en": said["en"] + in_english, "zh": said["zh"] + in_chinese}
    remedy = None if way is None else way.remedy
    if remedy is not None:
        said, lines = (
            {language: f"{line}; {remedy[language]}" for language, line in each.items()}
            for each in (said, lines)
        )
    return Finding(
        kind=LessonKind.FAILS,
        subject=(*who, "" if most_often else " ".join(sorted(error.words))),
        tools=(who.tool,),
        actor=who.actor,
        example=error.example,
        positions=positions,
        calls=calls,
        failing_calls=failing,
        interval=span.interval,
        sure=span.interval[0],
        is_over=span.is_over,
        lines=lines,
        wordless_lines=said if in_english else {},
        remedy=remedy,
        says_what_to_do=False,
    )


@dataclass(frozen=True)
class _Way:
    """One way to call a shell's command that fails to start, and one that does not.

    Attributes:
        name: the tool's name with what launched it, in backticks.
        calls: its calls in this way.
        failing: those of them that did not start.
        remedy: how often it worked in the other way, by language.
    """

    name: str
    calls: int
    failing: int
    remedy: dict[str, str]


def _way(history: History, caller: int, error: ToolError) -> _Way | None:
    """Return the way of calling that keeps a command from starting; None for other causes."""
    tool, is_agent = history.callers[caller].tool, history.is_agents(caller)
    if not (is_agent and tool.startswith(_SHELL) and error.is_stuck):
        return None
    calls: Counter[str] = Counter()
    worked: Counter[str] = Counter()
    stuck: Counter[str] = Counter()
    for step in _steps(history, caller):
        calls[step.launcher] += 1
        worked[step.launcher] += step.error is None
        stuck[step.launcher] += step.is_stuck
    bad = max(stuck, key=lambda each: (stuck[each], each))
    good = max(worked, key=lambda each: (each != bad, worked[each], each))
    if (
        good == bad
        or stuck[bad] < _NEARLY_ALL * stuck.total()
        or stuck[bad] < _MOSTLY * calls[bad]
        or worked[good] < _NEARLY_ALL * calls[good]
    ):
        return None
    name, done, tried = _launched(tool, good), worked[good], calls[good]
    remedy = {
        "en": f"{name} worked in {of_all(done, tried, 'calls')}",
        "zh": f"{name} 的 {tried} 次调用中有 {done} 次成功",
    }
    return _Way(_launched(tool, bad), calls[bad], stuck[bad], remedy)


def _steps(history: History, caller: int) -> Iterator[RunStep]:
    for position in history.runs_with[caller]:
        steps = zip(history.calls[position], history.runs[position].steps, strict=True)
        yield from (step for each, step in steps if each == caller)


def _launched(tool: str, launcher: str) -> str:
    if not launcher:
        return named(tool)
    return f"`{_SHELL}{launcher} {identifier(tool.removeprefix(_SHELL))}`"


def _calls(history: History, caller: int, error: ToolError) -> tuple[int, bool]:
    """Return how many calls the failures are compared with, and whether these are the last."""
    calls = history.counts[caller]
    since = _calls_between(history, caller, error.positions[0], len(history.runs))
    return (since, True) if calls >= _LATELY * since else (calls, False)


def _said(error: ToolError, most_often: ToolError | None) -> tuple[str, str]:
    if not (said := error_text(error.template)):
        return "", ""
    if most_often is None:
        return f": {said}", f": {said}"
    times = most_often.calls
    return f": most often ({times} of them) {said}", f": 最常见({times} 次)的是 {said}"
