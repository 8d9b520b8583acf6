"""Attempts at a task: which of them may be compared with each other.

Who tries again after a failure and stops at a success makes the last run of a task a success,
whatever it did. Within such a task what was done first seems to harm and what was done last to
help. What went before a run does not do that: runs of one kind of task that follow as many
failures can be compared, and so can all runs of a task that was repeated whatever came of it.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import inf
from typing import Final, NamedTuple

from .runs import Run

# Runs follow successes as they follow failures where they do so at least this often, relatively.
_AS_OFTEN: Final = 0.9
# What ended within so many seconds was reported together: the time is that of the report.
_TOGETHER_S: Final = 0.01

# When a run ended, and when it arrived.
_Moment = tuple[float, float]


class TaskAttempt(NamedTuple):
    """The place of a run among the runs of its task.

    Attributes:
        task: the task, if the run is compared with other runs of it; None if it is compared with
            runs of other tasks.
        failures: how many runs of the task had failed before.
        is_after_success: whether one had succeeded before.
    """

    task: str | None
    failures: int
    is_after_success: bool


def attempts_of(runs: Iterable[Run]) -> dict[int, TaskAttempt]:
    """Return the place of each run among those of its task, by the row of its outcome.

    A run is compared with the other runs of its task if

    1. the runs of the task overlap in time, so that none was begun because of how another ended, or
    2. runs of the project follow successes as often as failures; or, where all runs of a task ended
       together, successes stand beside successes as often as beside failures; or
    3. it follows a success of its task: who stops at a success has not stopped at that one. The
       runs up to the first success stay out of this comparison.

    Args:
        runs: of one project, each once, in any order.
    """
    by_task = _by_task(runs)
    parallel = {task for task, found in by_task.items() if _overlap(found)}
    in_turn = [found for task, found in by_task.items() if task not in parallel]
    is_regardless = _are_repeated_regardless(in_turn)
    at_once = {task: found for task, found in by_task.items() if _are_at_once(found)}
    if _are_beside_each_other(at_once.values()):
        parallel |= at_once.keys()
    attempts: dict[int, TaskAttempt] = {}
    for task, found in by_task.items():
        is_whole = len(found) > 1 and (is_regardless or task in parallel)
        attempts.update(_attempts(task, found, is_whole=is_whole))
    return attempts


def without_order(runs: Iterable[Run], attempts: Mapping[int, TaskAttempt]) -> frozenset[int]:
    """Return the rows of the runs that cannot be placed among the others of their task.

    Another run of their task has the same moment, and how it ended may be why they were begun: to
    compare them with anything would blame what was done first.
    """
    return frozenset(
        run.outcome
        for found in _by_task(runs).values()
        for moments in (Counter(moment for moment, _ in found),)
        for moment, run in found
        if moments[moment] > 1 and attempts[run.outcome].task is None
    )


_InOrder = list[tuple[_Moment, Run]]


def _by_task(runs: Iterable[Run]) -> dict[str, _InOrder]:
    """Return the runs of each task in the order in which they ended, as far as that is known."""
    by_task: defaultdict[str, list[Run]] = defaultdict(list)
    for run in runs:
        by_task[run.task_id].append(run)
    return {task: _in_order(found) for task, found in by_task.items()}


def _in_order(runs: Sequence[Run]) -> _InOrder:
    """Return runs with their moments, in order.

    What ended at the same time did so in the order of arrival. Where only some say when they ended,
    all are in the order of arrival: of the others the time of arrival is all that is known.
    """
    told = {run.ended_at != run.received_at for run in runs}
    found = [
        ((run.ended_at if len(told) < 2 else run.received_at or 0.0, run.received_at or 0.0), run)
        for run in runs
    ]
    return sorted(found, key=lambda each: (each[0], each[1].duration_ms or 0))


def _attempts(task: str, runs: _InOrder, *, is_whole: bool) -> Iterable[tuple[int, TaskAttempt]]:
    """Yield the attempts at one task; of runs with the same moment, neither precedes."""
    first = min((moment for moment, run in runs if run.success), default=(inf, inf))
    is_repeated = sum(moment > first for moment, _ in runs) > 1
    failed = sorted(moment for moment, run in runs if not run.success)
    for moment, run in runs:
        is_after = moment > first
        is_within = is_whole or (is_after and is_repeated)
        yield (
            run.outcome,
            TaskAttempt(task if is_within else None, bisect_left(failed, moment), is_after),
        )


def _overlap(runs: _InOrder) -> bool:
    """Return whether each of several runs began before the one that ended before it had ended.

    Of runs that were reported together nobody knows when they ended.
    """
    pairs = pairwise(run for _, run in runs)
    return len(runs) > 1 and all(
        after.ended_at - (after.duration_ms or 0) / 1000 < before.ended_at
        and after.ended_at - before.ended_at > _TOGETHER_S
        for before, after in pairs
    )


def _are_at_once(runs: _InOrder) -> bool:
    ended = [run.ended_at for _, run in runs]
    return max(ended) - min(ended) <= _TOGETHER_S


def _are_repeated_regardless(tasks: Iterable[_InOrder]) -> bool:
    """Return whether runs follow the successes of these tasks as often as their failures."""
    ended, followed = [0, 0], [0, 0]
    for runs in tasks:
        for moment, run in runs:
            ended[run.success] += 1
            followed[run.success] += moment < runs[-1][0]
    return _is_as_often(followed, ended)


def _are_beside_each_other(tasks: Iterable[_InOrder]) -> bool:
    """Return whether successes come with other successes as often as failures do.

    Who stops at a success has one in each task.
    """
    others, won = [0, 0], [0, 0]
    for runs in tasks:
        successes = sum(run.success for _, run in runs)
        for _, run in runs:
            others[run.success] += len(runs) - 1
            won[run.success] += successes - run.success
    return _is_as_often(won, others)


def _is_as_often(counts: Sequence[int], of: Sequence[int]) -> bool:
    """Return whether something is counted of successes, and about as often as of failures."""
    if not counts[True]:
        return False
    return counts[True] * of[False] >= _AS_OFTEN * counts[False] * of[True]
