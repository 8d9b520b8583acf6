"""Loops: the same call with the same arguments, again and again, and how such runs end."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final, NamedTuple

from .finding import Finding
from .history import History
from .lesson import LessonKind
from .rules import LessonRules
from .span import span_of
from .wording import counted, tool_text

# From so many equal calls in a row on, it is a loop.
_AGAIN: Final = 3
_MOSTLY: Final = 0.5


@dataclass
class _Loop:
    """The runs that repeat a call without a change, and the repeated calls."""

    positions: list[int] = field(default_factory=list)
    calls: int = 0
    failing: int = 0


class _Ends(NamedTuple):
    """How runs ended of which it is known: those with the loop, and the others."""

    runs: int
    won: int
    others: int
    others_won: int


def find_loops(history: History, rules: LessonRules) -> Iterator[Finding]:
    """Yield the calls of the agent that several tasks' runs repeat without a change.

    A loop counts if such runs succeed less often than others, or the repeated calls mostly fail:
    asking again for what has not arrived yet does no harm.
    """
    for caller, loop in _loops_of(history).items():
        if len(history.tasks_of(loop.positions)) < rules.min_tasks:
            continue
        ended = _ends_of(history, loop)
        # The part of the successes of other runs that these runs lack.
        lost = (
            1 - ended.won * ended.others / (ended.runs * ended.others_won)
            if ended.runs and ended.others_won
            else 0.0
        )
        harm = max(lost, loop.failing / loop.calls if loop.failing > _MOSTLY * loop.calls else 0.0)
        if harm > 0:
            yield _finding(history, caller, loop, ended, harm)


def _ends_of(history: History, loop: _Loop) -> _Ends:
    positions = set(loop.positions)
    judged = history.judged_positions
    these = [history.successes[each] for each in judged if each in positions]
    others = [history.successes[each] for each in judged if each not in positions]
    return _Ends(len(these), sum(these), len(others), sum(others))


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


def _finding(history: History, caller: int, loop: _Loop, ended: _Ends, harm: float) -> Finding:
    who = history.callers[caller]
    english, chinese = _how_they_ended(ended, len(loop.positions))
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


def _how_they_ended(ended: _Ends, runs: int) -> tuple[str, str]:
    """Return how the runs ended, as far as anybody knows, in English and Chinese."""
    if not ended.runs:
        return "", ""
    these, chinese = "these runs", "这些运行"
    if ended.runs < runs:
        these, chinese = f"the {ended.runs} with a verdict", f"其中有结论的 {ended.runs} 次"
    others = counted(ended.others, "other runs")
    return (
        f", {ended.won} of {these} succeeded, and {ended.others_won} of the {others}",
        f",{chinese}中 {ended.won} 次成功,其他 {ended.others} 次运行中 {ended.others_won} 次成功",
    )
