"""Loops: the same call with the same arguments, again and again, and how such runs end."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

from ..chance import discoveries
from ..finding import Finding
from ..history import History
from ..lesson import LessonKind
from ..rules import LessonRules
from ..span import span_of
from ..wording import counted, tool_text
from .goes_with import DifferenceWithinTasks, difference_within_tasks

# From so many equal calls in a row on, it is a loop.
_AGAIN: Final = 3
_MOSTLY: Final = 0.5
# Of what is said to end worse, chance explains at most one in twenty.
_LEVEL: Final = 0.05


@dataclass
class _Loop:
    """The runs that repeat a call without a change, and the repeated calls."""

    positions: list[int] = field(default_factory=list)
    calls: int = 0
    failing: int = 0


def find_loops(history: History, rules: LessonRules) -> Iterator[Finding]:
    """Yield the calls of the agent that several tasks' runs repeat without a change.

    A loop counts if such runs succeed less often than other runs of the same tasks, by more than
    chance explains, or if the repeated calls mostly fail: asking again for what has not arrived yet
    does no harm, and hard tasks take more calls anyway.
    """
    found = {
        caller: loop
        for caller, loop in _loops_of(history).items()
        if len(history.tasks_of(loop.positions)) >= rules.min_tasks
    }
    differences = _differences(history, found)
    for caller, loop in found.items():
        difference = differences.get(caller)
        lost = 0.0 if difference is None else -difference.effect
        failing = loop.failing / loop.calls if loop.failing > _MOSTLY * loop.calls else 0.0
        if (harm := max(lost, failing)) > 0:
            yield _finding(history, caller, loop, difference, harm)


def _differences(history: History, loops: Mapping[int, _Loop]) -> dict[int, DifferenceWithinTasks]:
    """Return how much worse such runs end than others of their tasks, beyond chance."""
    place = {position: each for each, position in enumerate(history.judged_positions)}
    tested = {}
    for caller, loop in loops.items():
        if history.callers[caller].tool in history.decided_by:
            continue
        judged = [place[position] for position in loop.positions if position in place]
        found = difference_within_tasks(history.judged, judged)
        if found is not None:
            tested[caller] = found
    kept = discoveries(
        [each.probability for each in tested.values()], level=_LEVEL, tests=max(1, len(tested))
    )
    callers = list(tested)
    significant = {callers[each]: tested[callers[each]] for each in kept}
    return {
        caller: each for caller, each in significant.items() if each.effect < 0 and each.low > 0
    }


def _are_equal(one: int, two: int, three: int) -> bool:
    return one == two == three


def _loops_of(history: History) -> dict[int, _Loop]:
    found: defaultdict[int, _Loop] = defaultdict(_Loop)
    for position, run in enumerate(history.runs):
        calls = history.calls[position]
        if not any(map(_are_equal, calls, calls[1:], calls[2:])):
            continue
        made = zip(calls, run.steps, strict=True)
        for (caller, arguments), equal in groupby(made, lambda call: (call[0], call[1].arguments)):
            steps = [step for _, step in equal]
            # Without arguments nothing is the same: `next_page` shows another page each time.
            if len(steps) < _AGAIN or not arguments or not history.is_agents(caller):
                continue
            loop = found[caller]
            if loop.positions[-1:] != [position]:
                loop.positions.append(position)
            loop.calls += len(steps)
            loop.failing += sum(step.failed for step in steps)
    return found


def _finding(
    history: History,
    caller: int,
    loop: _Loop,
    difference: DifferenceWithinTasks | None,
    harm: float,
) -> Finding:
    who = history.callers[caller]
    english, chinese = _how_they_ended(difference)
    runs, tasks = len(loop.positions), len(history.tasks_of(loop.positions))
    span = span_of(history, history.runs_with[caller], loop.positions)
    name = tool_text(who)[0]
    return Finding(
        kind=LessonKind.LOOPS,
        subject=tuple(who),
        tools=(who.tool,),
        positions=loop.positions,
        calls=loop.calls,
        failing_calls=loop.failing,
        interval=span.interval,
        sure=span.interval[0] * harm,
        is_over=span.is_over,
        lines={
            "en": f"{name} was called {_AGAIN} or more times in a row with the same arguments in "
            f"{counted(runs, 'runs')}, in {counted(tasks, 'tasks')}: {loop.failing} of these "
            f"{loop.calls} calls failed{english}",
            "zh": f"{name} 在 {runs} 次运行中以相同参数连续调用 {_AGAIN} 次或更多,涉及 {tasks} "
            f"个任务: 这 {loop.calls} 次调用中 {loop.failing} 次失败{chinese}",
        },
    )


def _how_they_ended(difference: DifferenceWithinTasks | None) -> tuple[str, str]:
    """Return the difference of the endings to other runs of the tasks, in English and Chinese."""
    if difference is None:
        return "", ""
    won, runs, others_won = difference.won, len(difference.positions), difference.others_won
    others = counted(difference.others, "other runs")
    chinese = f"其他 {difference.others} 次运行成功 {others_won} 次"
    such = f"{won} of {runs} such runs"
    return (
        f"; within the same tasks, {such} succeeded, and {others_won} of {others}",
        f";在相同任务中,这样的 {runs} 次运行成功 {won} 次,{chinese}",
    )
