"""Repairs: after a failure the same tool works again, or another one takes its place.

After a failure: how the run went on, strictly counted.

A call that ends the run is not a remedy, and runs that gave up are counted apart.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from ....text.numerals import counted
from ..chance import as_normal, clustered_difference, discoveries, share_interval, two_sided
from ..history import History, may_fail, span_of
from ..lesson import Finding, LessonKind
from ..rules import LessonRules
from ..wording import named, of_all

# A word that many tools' names have does not tell which one stands in for another.
_COMMON_WORD: Final = 0.25
# Of a run in which more tools fail, the first ones are followed.
_MOST_FOLLOWED: Final = 20
_WORD: Final = re.compile(r"[^\W_]{3,}")
# What stands before it names a shell or a server: `shell:npm test`, `mcp__files__read`.
_PREFIX: Final = re.compile(r"\A.*(?::|__)(?=.)", re.DOTALL)


@dataclass
class AfterFailures:
    """The events after the failures of one tool.

    Attributes:
        gave_up: the runs in which it was not tried again and nothing took its place.
        again: the runs that tried it again, and whether the next try worked.
        works: those of them in which it then worked, and the call right before that.
        instead: for each other tool the runs in which it took its place.
    """

    gave_up: list[int] = field(default_factory=list)
    again: dict[int, bool] = field(default_factory=dict)
    works: dict[int, int] = field(default_factory=dict)
    instead: defaultdict[int, list[int]] = field(default_factory=lambda: defaultdict(list))


def after_failures(history: History) -> dict[int, AfterFailures]:
    """Return by tool of the agent what followed its failures."""
    stand_ins = _Substitutes(history)
    found: defaultdict[int, AfterFailures] = defaultdict(AfterFailures)
    followed: defaultdict[int, set[int]] = defaultdict(set)
    for position, place, tool in history.failed_calls:
        # From the first failure of a tool in the run on.
        tools = followed[position]
        if tool not in tools and len(tools) < _MOST_FOLLOWED and history.is_agents(tool):
            tools.add(tool)
            _follow(history, position, place, found[tool], stand_ins)
    return found


def _follow(
    history: History, position: int, place: int, after: AfterFailures, stand_ins: "_Substitutes"
) -> None:
    calls, steps = history.calls[position], history.runs[position].steps
    tool = calls[place]
    tries = [n for n in range(place + 1, len(calls)) if calls[n] == tool]
    if tries:
        after.again[position] = not steps[tries[0]].failed
    works = next((n for n in tries if not steps[n].failed), None)
    if works is not None:
        if works < len(calls) - 1:
            after.works[position] = calls[works - 1]
        return
    others = {
        calls[n]
        for n in range(place + 1, len(calls) - 1)
        if not steps[n].failed
        and stand_ins.has(tool, calls[n], steps[place].arguments, steps[n].arguments)
    }
    for other in others:
        after.instead[other].append(position)
    if not tries and not others:
        after.gave_up.append(position)


class _Substitutes:
    """The tools that replace another one."""

    def __init__(self, history: History) -> None:
        self._history = history
        names = [_PREFIX.sub("", caller.tool.lower()) for caller in history.callers]
        self._words = [frozenset(_WORD.findall(name)) for name in names]
        tools = Counter(word for words in self._words for word in words)
        most = max(2.0, _COMMON_WORD * len(names))
        self._telling = {word for word, count in tools.items() if count <= most}

    def has(self, tool: int, other: int, arguments: int, of_other: int) -> bool:
        """Return whether a call of another tool replaces the failed one.

        It has the same arguments, or a name with a telling word in common.
        """
        if tool == other or not self._history.is_agents(other):
            return False
        same = arguments != 0 and arguments == of_other
        return same or bool(self._words[tool] & self._words[other] & self._telling)


_MOSTLY: Final = 0.5
_MIN_RUNS: Final = 5
# Of what is said to work, chance explains at most one in twenty.
_LEVEL: Final = 0.05


def find_remedies(history: History, rules: LessonRules) -> Iterator[Finding]:
    """Yield what worked in the runs after a failure of one of the agent's tools.

    What works after a failure as often as at other times says only that the tool fails at times.
    """
    found: list[tuple[float, Finding]] = []
    for tool, after in after_failures(history).items():
        # That tests pass in the end is the work itself.
        again = None
        if not may_fail(history.callers[tool].tool):
            again = _again(history, rules, tool, after)
        if again is not None:
            found.append((_by_chance(history, after.again.items(), tool), again))
        for other, positions in after.instead.items():
            instead = _instead(history, rules, (tool, other), positions)
            if instead is not None:
                found.append((_by_chance(history, _calls_of(history, other), tool), instead))
    kept = discoveries([each for each, _ in found], level=_LEVEL, tests=max(1, len(found)))
    for place in kept:
        yield found[place][1]


def _by_chance(history: History, tried: Iterable[tuple[int, bool]], tool: int) -> float:
    """Return how probable it is that calls work as often as a tool does when a run first calls it.

    Args:
        history: the runs.
        tried: the position of the run of each call, and whether it worked.
        tool: the tool.
    """
    clusters: defaultdict[int, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for position, worked in tried:
        cluster = clusters[history.tasks[position]]
        cluster[0] += 1
        cluster[1] += worked
    for position in history.runs_with[tool]:
        first = history.calls[position].index(tool)
        cluster = clusters[history.tasks[position]]
        cluster[2] += 1
        cluster[3] += not history.runs[position].steps[first].failed
    rows = [(each[0], each[1], each[2], each[3]) for _, each in sorted(clusters.items())]
    difference, error, count = clustered_difference(rows)
    deviate = as_normal(difference / error, count - 1) if error else 0.0
    return two_sided(deviate) if deviate > 0.0 else 1.0


def _calls_of(history: History, caller: int) -> Iterator[tuple[int, bool]]:
    for position in history.runs_with[caller]:
        pairs = zip(history.calls[position], history.runs[position].steps, strict=True)
        yield from ((position, not step.failed) for each, step in pairs if each == caller)


def _again(history: History, rules: LessonRules, tool: int, after: AfterFailures) -> Finding | None:
    positions = list(after.works)
    tasks, tried = history.tasks_of(positions), history.tasks_of(after.again)
    interval = share_interval(len(tasks), len(tried))
    if len(positions) < _MIN_RUNS or len(tasks) < rules.min_tasks or interval[0] < _MOSTLY:
        return None
    name, gave_up = named(history.callers[tool].tool), len(after.gave_up)
    works, again = len(positions), len(after.again)
    before, times = _commonest(history, after.works)
    through = before != tool and times >= _MOSTLY * works
    between = named(history.callers[before].tool)
    english = f"{works} of {again} runs" + (
        f" ({times} times right after {between})" if through else ""
    )
    chinese = f"{again} 次中有 {works} 次" + (
        f"(其中 {times} 次紧接在 {between} 之后)" if through else ""
    )
    if gave_up:
        english += f"; {counted(gave_up, 'run')} gave up"
        chinese += f";{gave_up} 次放弃"
    return Finding(
        kind=LessonKind.THEN_WORKS,
        subject=(history.callers[tool].tool,) * 2,
        tools=tuple(history.callers[each].tool for each in ([tool, before] if through else [tool])),
        positions=positions,
        calls=history.counts[tool],
        interval=interval,
        sure=interval[0],
        remedy={"en": f"tried again, it worked in {english}", "zh": f"重试后成功: {chinese}"},
        lines={
            "en": f"after {name} failed and was tried again, it worked in {english}",
            "zh": f"{name} 失败并重试后成功: {chinese}",
        },
    )


def _commonest(history: History, works: dict[int, int]) -> tuple[int, int]:
    """Return the call that mostly came right before, and how often."""
    times = Counter(works.values())
    return min(times.items(), key=lambda item: (-item[1], history.callers[item[0]]))


def _instead(
    history: History, rules: LessonRules, pair: tuple[int, int], positions: list[int]
) -> Finding | None:
    tool, other = pair
    calls, failed = history.counts[tool], history.failures[tool]
    others, worked = history.counts[other], history.counts[other] - history.failures[other]
    interval = share_interval(worked, others)
    if (
        len(history.tasks_of(positions)) < rules.min_tasks
        or failed < _MOSTLY * calls
        or interval[0] < _MOSTLY
    ):
        return None
    who, instead = history.callers[tool].tool, history.callers[other].tool
    place = counted(len(positions), "run")
    english = f"{named(instead)}, which took its place in {place}, worked in " + of_all(
        worked, others, "call"
    )
    chinese = (
        f"在 {len(positions)} 次运行中取代它的 {named(instead)} 的 {others} 次调用中有 {worked} "
        "次成功"
    )
    return Finding(
        kind=LessonKind.THEN_WORKS,
        subject=(who, instead),
        tools=(who, instead),
        positions=positions,
        calls=calls,
        failing_calls=failed,
        interval=interval,
        sure=interval[0],
        is_over=span_of(history, history.runs_with[tool], positions).is_over,
        remedy={"en": english, "zh": chinese},
        lines={
            "en": f"{named(who)} failed in {of_all(failed, calls, 'call')}; {english}",
            "zh": f"{named(who)} 的 {calls} 次调用中有 {failed} 次失败;{chinese}",
        },
    )
