"""Failures: which error a tool fails with, in several tasks."""

from collections.abc import Iterator
from typing import Final

from ..failures import has_not_started
from .errors import ToolError, errors_of, joined_errors
from .finding import Finding
from .history import History, may_fail
from .lesson import LessonKind
from .rules import LessonRules
from .span import span_of
from .wording import counted, error_text, of_all, tool_text

_MOSTLY: Final = 0.5
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
    """Yield a tool's errors that say something; with the commonest one where it fails at large."""
    failing = sum(error.calls for error in errors)
    named = [error for error in errors if error.words]
    # Where no error stands for most of its failures, a tool that mostly fails does so at large.
    if failing >= _MOSTLY * calls and all(error.calls < _MOSTLY * failing for error in named):
        most_often = (named or errors)[0]
        yield joined_errors(errors, most_often), most_often
    yield from ((error, None) for error in named)


def _is_lesson(history: History, caller: int, error: ToolError) -> bool:
    if not may_fail(history.callers[caller].tool) or has_not_started(error.template):
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
    in_english, in_chinese = _said(error, most_often)
    said = {
        "en": f"{english} failed in {of_all(failing, calls, 'calls', is_last=is_last)}, in "
        f"{counted(tasks, 'tasks')}",
        "zh": f"{chinese} 的{'最近' if is_last else ''} {calls} 次调用中有 {failing} 次失败,"
        f"涉及 {tasks} 个任务",
    }
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
        lines={"en": said["en"] + in_english, "zh": said["zh"] + in_chinese},
        wordless_lines=said if in_english else {},
    )


def _calls(history: History, caller: int, error: ToolError) -> tuple[int, bool]:
    """Return how many calls the failing ones are told against, and whether these are the last."""
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
