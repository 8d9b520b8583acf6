"""Associations with success: calls that separate the successful runs of a task from its others.

Only differences within a task count. Between tasks a call may just belong to the easy ones. Within
a task that was tried again until it succeeded, a call may just belong to the last run.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Final

from ....numbers.percent import percent
from ....numbers.wilson import Z
from ..chance import discoveries, two_sided
from ..finding import Finding
from ..history import History
from ..lesson import LessonKind
from ..rules import LessonRules
from ..wording import counted, tool_text

_LEVEL: Final = 0.01
_MIN_RUNS: Final = 5
_MIN_TASKS: Final = 3
# A call that mostly ends the run tells how it ended, not what led there.
ENDING_SHARE: Final = 0.8


@dataclass(frozen=True)
class DifferenceWithinTasks:
    """The difference between runs that did something and other runs of their tasks.

    Attributes:
        positions: the runs with it, in tasks that have both.
        won: how many of them succeeded.
        others: the runs without it, in these tasks.
        others_won: how many of them succeeded.
        tasks: how many tasks have both.
        effect: the weighted mean of the differences.
        error: its standard error.
        probability: how probable it is by chance.
    """

    positions: list[int]
    won: int
    others: int
    others_won: int
    tasks: int
    effect: float
    error: float
    probability: float

    @property
    def low(self) -> float:
        """The end of the interval that is nearer to no effect; 0 if it crosses that."""
        return max(0.0, abs(self.effect) - Z * self.error)


def find_within_tasks(history: History, _rules: LessonRules) -> Iterator[Finding]:
    """Yield the calls that runs with success have more, or less often within the same task."""
    held = (
        (caller, difference_within_tasks(history, positions))
        for caller, positions in history.runs_with.items()
    )
    tested = [(caller, each) for caller, each in held if each is not None]
    kept = discoveries(
        [each.probability for _, each in tested], level=_LEVEL, tests=max(1, len(tested))
    )
    for place in kept:
        caller, each = tested[place]
        if each.low > 0 and not (each.effect > 0 and _ends_runs(history, caller, each)):
            yield _finding(history, caller, each)


def difference_within_tasks(
    history: History, positions: Iterable[int]
) -> DifferenceWithinTasks | None:
    """Return the difference of some runs to others of their tasks; None if there are too few.

    Args:
        history: runs with a verdict.
        positions: the runs that did something.
    """
    runs_of, successes_of = history.compared_runs, history.compared_successes
    by_task: defaultdict[int, list[int]] = defaultdict(list)
    for position in positions:
        if (task := history.within[position]) is not None:
            by_task[task].append(position)
    both = {task: runs for task, runs in by_task.items() if len(runs) < runs_of[task]}
    count = sum(map(len, both.values()))
    others = sum(runs_of[task] for task in both) - count
    if len(both) < _MIN_TASKS or count < _MIN_RUNS or others < _MIN_RUNS:
        return None
    rows = []
    won = all_won = 0
    for task, mine in sorted(both.items()):
        hits = sum(history.successes[position] for position in mine)
        won += hits
        all_won += successes_of[task]
        rows.append((runs_of[task], len(mine), successes_of[task], hits))
    effect, error, probability = weighted_difference(rows)
    compared = sorted(position for mine in both.values() for position in mine)
    return DifferenceWithinTasks(
        compared, won, others, all_won - won, len(both), effect, error, probability
    )


def weighted_difference(rows: list[tuple[int, int, int, int]]) -> tuple[float, float, float]:
    """Return the effect within tasks (Mantel-Haenszel), its error, and its probability by chance.

    Args:
        rows: for each task its runs, those with the call, its successes, those with the call.
    """
    weight = excess = variance = 0.0
    for n, k, s, a in rows:
        weight += k * (n - k) / n
        excess += a - k * s / n
        variance += k * (n - k) * s * (n - s) / (n * n * (n - 1))
    effect = excess / weight
    spread = sum((a - k * s / n - effect * k * (n - k) / n) ** 2 for n, k, s, a in rows)
    between = spread * len(rows) / max(1, len(rows) - 1)
    error = sqrt(max(between, variance)) / weight
    if not variance:
        return effect, error, 1.0
    # Half a run less: runs come in whole numbers.
    return effect, error, two_sided(max(0.0, abs(excess) - 0.5) / sqrt(variance))


def _ends_runs(history: History, caller: int, each: DifferenceWithinTasks) -> bool:
    last = sum(history.calls[position][-1] == caller for position in each.positions)
    return last >= ENDING_SHARE * len(each.positions)


def _finding(history: History, caller: int, each: DifferenceWithinTasks) -> Finding:
    who = history.callers[caller]
    at_least = percent(each.low, 1)
    sign = 1 if each.effect > 0 else -1
    far = min(1.0, abs(each.effect) + Z * each.error)
    ends = sorted((sign * each.low, sign * far))
    english, chinese = tool_text(who)
    runs = len(each.positions)
    return Finding(
        kind=LessonKind.GOES_WITH_SUCCESS,
        subject=tuple(who),
        tools=(who.tool,),
        actor=who.actor,
        positions=each.positions,
        calls=history.counts[caller],
        interval=(ends[0], ends[1]),
        effect=each.effect,
        sure=each.low,
        lines={
            "en": f"runs with {english} succeeded {'more' if sign > 0 else 'less'} often than "
            f"other runs of the same tasks, by at least {at_least} points: {each.won} of {runs} "
            f"against {each.others_won} of {each.others}, in {counted(each.tasks, 'tasks')}",
            "zh": f"使用 {chinese} 的运行比相同任务的其他运行成功率{'高' if sign > 0 else '低'}"
            f"至少 {at_least} 个百分点: {runs} 次中成功 {each.won} 次,其他 {each.others} 次中成功 "
            f"{each.others_won} 次,涉及 {each.tasks} 个任务",
        },
    )
