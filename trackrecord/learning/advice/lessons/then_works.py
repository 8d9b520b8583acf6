"""What then works: after a failure the same tool works again, or another one takes its place.

Counted strictly: a call that ends the run is no remedy, and runs that gave up are counted apart.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from .chance import share_interval
from .fails import failing_positions, has_stopped
from .finding import Finding
from .history import History
from .lesson import LessonKind
from .rules import LessonRules
from .wording import counted, named, of_all

_MOSTLY: Final = 0.5
_MIN_RUNS: Final = 5
# A word that many tools' names have tells not which one stands in for another.
_COMMON_WORD: Final = 0.25
_WORD: Final = re.compile(r"[^\W_]{3,}")


@dataclass
class _After:
    """What followed the failures of one tool.

    Attributes:
        gave_up: the runs in which it was not tried again and nothing took its place.
        again: the runs that tried it again.
        works: those of them in which it then worked: the call right before that, by run.
        instead: for each other tool the runs in which it took its place.
    """

    gave_up: list[int] = field(default_factory=list)
    again: list[int] = field(default_factory=list)
    works: dict[int, int] = field(default_factory=dict)
    instead: defaultdict[int, list[int]] = field(default_factory=lambda: defaultdict(list))


def find_remedies(history: History, rules: LessonRules) -> Iterator[Finding]:
    """Yield what worked in the runs after a failure of one of the agent's tools."""
    failing = {
        tool: sum(map(len, errors.values())) for tool, errors in failing_positions(history).items()
    }
    for tool, after in _Following(history).after_failures().items():
        if (found := _again(history, rules, tool, after)) is not None:
            yield found
        for other in after.instead:
            if (found := _instead(history, rules, tool, other, after, failing)) is not None:
                yield found


class _Following:
    """Follows each run after the first failure of each tool."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._words = [frozenset(_WORD.findall(c.tool.lower())) for c in history.callers]
        tools = Counter(word for words in self._words for word in words)
        most = max(2.0, _COMMON_WORD * len(self._words))
        self._telling = {word for word, count in tools.items() if count <= most}
        self._found: defaultdict[int, _After] = defaultdict(_After)

    def after_failures(self) -> dict[int, _After]:
        """Return by tool what followed its failures."""
        for position, run in enumerate(self._history.runs):
            first: dict[int, int] = {}
            for place, step in enumerate(run.steps):
                if step.error is not None:
                    first.setdefault(self._history.calls[position][place], place)
            for tool, place in first.items():
                if self._history.is_agents(tool):
                    self._follow(position, place, tool)
        return self._found

    def _follow(self, position: int, place: int, tool: int) -> None:
        calls, steps = self._history.calls[position], self._history.runs[position].steps
        after = self._found[tool]
        tries = [n for n in range(place + 1, len(calls)) if calls[n] == tool]
        works = next((n for n in tries if not steps[n].failed), None)
        if tries:
            after.again.append(position)
        if works is not None:
            if works < len(calls) - 1:
                after.works[position] = calls[works - 1]
            return
        others = {
            calls[n]
            for n in range(place + 1, len(calls) - 1)
            if not steps[n].failed
            and self._takes_place(tool, calls[n], steps[place].arguments, steps[n].arguments)
        }
        for other in others:
            after.instead[other].append(position)
        if not tries and not others:
            after.gave_up.append(position)

    def _takes_place(self, tool: int, other: int, arguments: int, of_other: int) -> bool:
        """Return whether a call does what the failing one was to do.

        It has the same arguments, or a name with a telling word in common.
        """
        if tool == other or not self._history.is_agents(other):
            return False
        same = arguments != 0 and arguments == of_other
        return same or bool(self._words[tool] & self._words[other] & self._telling)


def _again(history: History, rules: LessonRules, tool: int, after: _After) -> Finding | None:
    positions = sorted(after.works)
    tasks, tried = history.tasks_of(positions), history.tasks_of(after.again)
    interval = share_interval(len(tasks), len(tried))
    if len(positions) < _MIN_RUNS or len(tasks) < rules.min_tasks or interval[0] < _MOSTLY:
        return None
    who, (before, times) = history.callers[tool], _commonest(history, after.works)
    name, gave_up = named(who.tool), len(after.gave_up)
    through = before != tool and times >= _MOSTLY * len(positions)
    between = named(history.callers[before].tool)
    tail = (
        (f", {times} times right after {between}", f",其中 {times} 次紧接在 {between} 之后")
        if through
        else ("", "")
    )
    left = (f"; {counted(gave_up, 'runs')} gave up", f";{gave_up} 次放弃") if gave_up else ("", "")
    return Finding(
        kind=LessonKind.THEN_WORKS,
        subject=(who.tool, who.tool),
        tools=(who.tool, history.callers[before].tool) if through else (who.tool,),
        positions=positions,
        calls=history.counts[tool],
        interval=interval,
        sure=interval[0],
        lines={
            "en": f"after {name} failed, it was tried again in "
            f"{counted(len(after.again), 'runs')} and then worked in {len(positions)} of them"
            f"{tail[0]}{left[0]}",
            "zh": f"{name} 失败后在 {len(after.again)} 次运行中重试,其中 {len(positions)} "
            f"次随后成功{tail[1]}{left[1]}",
        },
    )


def _commonest(history: History, works: dict[int, int]) -> tuple[int, int]:
    """Return the call that mostly came right before, and how often."""
    times = Counter(works.values())
    return min(times.items(), key=lambda item: (-item[1], history.callers[item[0]]))


def _instead(
    history: History,
    rules: LessonRules,
    tool: int,
    other: int,
    after: _After,
    failing: dict[int, int],
) -> Finding | None:
    positions = after.instead[other]
    calls, failed = history.counts[tool], failing[tool]
    others, others_worked = history.counts[other], history.counts[other] - failing.get(other, 0)
    tasks = history.tasks_of(positions)
    interval = share_interval(others_worked, others)
    if len(tasks) < rules.min_tasks or failed < _MOSTLY * calls or interval[0] < _MOSTLY:
        return None
    who, instead = history.callers[tool], history.callers[other]
    one, two = named(who.tool), named(instead.tool)
    return Finding(
        kind=LessonKind.THEN_WORKS,
        subject=(who.tool, instead.tool),
        tools=(who.tool, instead.tool),
        positions=positions,
        calls=calls,
        failing_calls=failed,
        interval=interval,
        sure=interval[0],
        is_over=has_stopped(history, history.runs_with[tool], positions),
        includes=LessonKind.FAILS,
        lines={
            "en": f"{one} failed in {of_all(failed, calls, 'calls')}; {two}, which took its place "
            f"in {counted(len(positions), 'runs')}, worked in "
            f"{of_all(others_worked, others, 'calls')}",
            "zh": f"{one} 的 {calls} 次调用中有 {failed} 次失败;在 {len(positions)} "
            f"次运行中取代它的 {two} 的 {others} 次调用中有 {others_worked} 次成功",
        },
    )
