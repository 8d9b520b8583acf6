"""Failures: which error a tool fails with, in several tasks; like errors are counted as one."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ....text.inert import identifier
from ....text.numerals import counted
from ....text.words import asked_words, names_in
from ...runs.runs import RunStep
from ..history import History, may_fail, span_of
from ..lesson import Finding, LessonKind
from ..rules import LessonRules
from ..wording import error_text, named, of_all, tool_text

# Of one tool's errors, the commonest are looked at.
_MOST_ERRORS: Final = 200
# Errors with this share of words in common are one.
_ALIKE: Final = 0.7
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_PLACEHOLDER: Final = re.compile(r"<\w+>")
# Words that every error has: they do not tell what went wrong.
_EMPTY: Final = frozenset({
    "error", "errors", "err", "exception", "failed", "failure", "fail", "fails", "failing",
    "command", "exit", "exited", "code", "status", "returned", "non", "zero", "nonzero", "with",
    "unknown", "process", "result", "tool", "call", "the", "an", "of", "in", "to", "was", "is",
    "错误", "失败", "异常", "命令", "退出", "状态",
})  # fmt: skip

# The position of the run of a failed call, the line of its error that tells, and whether its
# program did not start.
_Occurrence = tuple[int, str, bool]


@dataclass
class ToolError:
    """The occurrences of one error of one tool.

    Attributes:
        template: the text of its commonest form.
        example: that form as it last was, or the template where that is not known.
        words: the words that tell what went wrong; none if the error does not tell.
        positions: the positions of the runs, one for each failing call, ascending.
        stuck: how many of these calls failed because their program did not start.
    """

    template: str
    words: frozenset[str]
    positions: list[int]
    example: str
    stuck: int

    @property
    def calls(self) -> int:
        """Return how many calls ended in it."""
        return len(self.positions)

    @property
    def is_stuck(self) -> bool:
        """Return whether it mostly says that a program did not start."""
        return 2 * self.stuck >= self.calls


def telling_words(template: str) -> frozenset[str]:
    """Return the significant words of an error, split like the texts of tasks."""
    return asked_words(_PLACEHOLDER.sub(" ", template)) - _EMPTY


def telling_names(template: str, tools: Sequence[str]) -> frozenset[str]:
    """Return the names in an error and in its tools, case folded."""
    return names_in(" ".join((_PLACEHOLDER.sub(" ", template), *tools))) - _EMPTY


def errors_of(history: History) -> dict[int, list[ToolError]]:
    """Return the errors of each caller, the commonest first."""
    found: defaultdict[int, defaultdict[str, list[_Occurrence]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for position, place, caller in history.failed_calls:
        step = history.runs[position].steps[place]
        found[caller][step.error or ""].append((position, step.error_line, step.is_stuck))
    return {
        caller: _merged(_error(template, occurrences) for template, occurrences in errors.items())
        for caller, errors in found.items()
    }


def _error(template: str, occurrences: list[_Occurrence]) -> ToolError:
    positions = [position for position, _, _ in occurrences]
    example, stuck = occurrences[-1][1] or template, sum(each[2] for each in occurrences)
    return ToolError(template, _words(template), positions, example, stuck)


def joined_errors(errors: Iterable[ToolError], named: ToolError) -> ToolError:
    """Return several errors of a tool as one, under the name of one of them."""
    every = list(errors)
    positions = sorted(position for error in every for position in error.positions)
    stuck = sum(error.stuck for error in every)
    return ToolError(named.template, named.words, positions, named.example, stuck)


def _merged(errors: Iterable[ToolError]) -> list[ToolError]:
    """Return the errors of one tool, those with like words as one; the commonest names it."""
    kept: list[list[ToolError]] = []
    ordered = sorted(errors, key=_commonest_first)
    for error in ordered[:_MOST_ERRORS]:
        like = next((each for each in kept if _are_alike(each[0].words, error.words)), None)
        if like is None:
            kept.append([error])
        else:
            like.append(error)
    merged = (joined_errors(each, each[0]) if len(each) > 1 else each[0] for each in kept)
    return sorted(merged, key=_commonest_first)


def _commonest_first(error: ToolError) -> tuple[int, str]:
    return -error.calls, error.template


def _are_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return one == other or len(one & other) >= _ALIKE * len(one | other)


def _words(template: str) -> frozenset[str]:
    found = _WORD.findall(_PLACEHOLDER.sub(" ", template).lower())
    return frozenset(word for word in found if word not in _EMPTY)


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
        "en": f"{english} failed in {of_all(failing, calls, 'call', is_last=is_last)}, in "
        f"{counted(tasks, 'task')}",
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
        "en": f"{name} worked in {of_all(done, tried, 'call')}",
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
