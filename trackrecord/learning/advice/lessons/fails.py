"""Failures: which error a tool fails with, in several tasks."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from .chance import share_interval
from .finding import Finding
from .history import History
from .lesson import LessonKind
from .rules import LessonRules
from .wording import counted, error_text, of_all, tool_text

# Of one tool's errors, the commonest are looked at.
_MOST_ERRORS: Final = 200
# Errors with this share of words in common are one.
_ALIKE: Final = 0.7
_MOSTLY: Final = 0.5
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_PLACEHOLDER: Final = re.compile(r"<\w+>")
# Words that every error has: they tell not what went wrong.
_EMPTY: Final = frozenset({
    "error", "errors", "err", "exception", "failed", "failure", "fail", "fails", "failing",
    "command", "exit", "exited", "code", "status", "returned", "non", "zero", "nonzero", "with",
    "unknown", "process", "result", "tool", "call", "the", "an", "of", "in", "to", "was", "is",
    "错误", "失败", "异常", "命令", "退出", "状态",
})  # fmt: skip


@dataclass
class _Error:
    """Where one error of one tool occurred."""

    template: str
    words: frozenset[str]
    calls: int = 0
    positions: list[int] = field(default_factory=list)

    def takes(self, other: "_Error") -> None:
        """Count another error as this one."""
        self.calls += other.calls
        self.positions += other.positions


def find_failures(history: History, rules: LessonRules) -> Iterator[Finding]:
    """Yield the errors that each tool fails with in enough tasks."""
    for caller, errors in _errors_of(history).items():
        failing = sum(error.calls for error in errors)
        named = [error for error in errors if error.words]
        # Where no error stands for most of its failures, a tool that mostly fails does so at large.
        if failing >= _MOSTLY * history.counts[caller] and not any(
            error.calls >= _MOSTLY * failing for error in named
        ):
            yield from _at_large(history, rules, caller, errors)
        for error in named:
            yield from _finding(history, rules, caller, error, failing=error.calls)


def failing_positions(history: History) -> dict[int, dict[str, list[int]]]:
    """Return by caller and template the positions of the runs of each failing call."""
    found: defaultdict[int, defaultdict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for position, run in enumerate(history.runs):
        for place, step in enumerate(run.steps):
            if step.error is not None:
                found[history.calls[position][place]][step.error].append(position)
    return {caller: dict(errors) for caller, errors in found.items()}


def _errors_of(history: History) -> dict[int, list[_Error]]:
    return {
        caller: _merged(
            _Error(template, _words(template), len(at), at) for template, at in errors.items()
        )
        for caller, errors in failing_positions(history).items()
    }


def _merged(errors: Iterable[_Error]) -> list[_Error]:
    """Return errors of one tool, those with like words as one; the commonest names it."""
    kept: list[_Error] = []
    ordered = sorted(errors, key=lambda error: (-error.calls, error.template))
    for error in ordered[:_MOST_ERRORS]:
        like = next((each for each in kept if _are_alike(each.words, error.words)), None)
        if like is None:
            kept.append(error)
        else:
            like.takes(error)
    return kept


def _are_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return one == other or len(one & other) >= _ALIKE * len(one | other)


def _words(template: str) -> frozenset[str]:
    """Return the words that tell what went wrong; none if the error does not tell."""
    found = _WORD.findall(_PLACEHOLDER.sub(" ", template).lower())
    return frozenset(word for word in found if word not in _EMPTY)


def _at_large(
    history: History, rules: LessonRules, caller: int, errors: list[_Error]
) -> Iterator[Finding]:
    every = _Error("", frozenset())
    for error in errors:
        every.takes(error)
    every.template = max(errors, key=lambda error: (bool(error.words), error.calls)).template
    yield from _finding(history, rules, caller, every, failing=every.calls, is_at_large=True)


def _finding(
    history: History,
    rules: LessonRules,
    caller: int,
    error: _Error,
    *,
    failing: int,
    is_at_large: bool = False,
) -> Iterator[Finding]:
    positions = sorted(set(error.positions))
    tasks = history.tasks_of(positions)
    if len(tasks) < rules.min_tasks:
        return
    who, calls = history.callers[caller], history.counts[caller]
    using = history.runs_with[caller]
    tried = len(history.tasks_of(using))
    interval = share_interval(len(tasks), tried)
    said = error_text(error.template)
    subject = (who.tool, who.actor, "" if is_at_large else " ".join(sorted(error.words)))
    english, chinese = tool_text(who)
    most = ("most often: ", "最常见的是: ") if is_at_large else ("", "")
    tail = (f": {most[0]}{said}", f": {most[1]}{said}") if said else ("", "")
    yield Finding(
        kind=LessonKind.FAILS,
        subject=subject,
        tools=(who.tool,),
        actor=who.actor,
        example=error.template,
        positions=positions,
        calls=calls,
        failing_calls=failing,
        interval=interval,
        sure=interval[0],
        is_over=has_stopped(history, using, positions),
        lines={
            "en": f"{english} failed in {of_all(failing, calls, 'calls')}, in "
            f"{counted(len(tasks), 'tasks')}{tail[0]}",
            "zh": f"{chinese} 的 {calls} 次调用中有 {failing} 次失败,涉及 {len(tasks)} 个任务"
            f"{tail[1]}",
        },
    )


def has_stopped(history: History, chances: list[int], seen: list[int]) -> bool:
    """Return whether something has stopped occurring: chance alone would hardly explain it.

    Args:
        history: the runs.
        chances: the runs in which it could have occurred, ascending.
        seen: those in which it did, ascending.
    """
    last = seen[-1]
    before = history.tasks_of(position for position in chances if position <= last)
    since = history.tasks_of(position for position in chances if position > last)
    rate = len(history.tasks_of(seen)) / len(before)
    return (1 - rate) ** len(since) <= _HARDLY if len(since) >= _FEWEST_SINCE else False


_HARDLY: Final = 0.05
_FEWEST_SINCE: Final = 3
