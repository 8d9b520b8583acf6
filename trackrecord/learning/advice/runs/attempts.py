"""Attempts at a task: which of them may be compared with each other.

Who tries again after a failure and stops at a success makes the last run of a task a success,
whatever it did. Within such a task what was done first seems to harm and what was done last to
help. What went before a run does not do that: runs of one kind of task that follow as many
failures can be compared, and so can all runs of a task that was repeated whatever came of it.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import inf
from typing import Final, NamedTuple

from .runs import Run

# Runs follow successes as they follow failures where they do so at least this often, relatively.
_AS_OFTEN: Final = 0.9


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
    2. runs of the project follow successes as often as failures, or
    3. it follows a success of its task: who stops at a success has not stopped at that one. The
       runs up to the first success stay out of this comparison.

    Args:
        runs: of one project, each once, in any order.
    """
    by_task: defaultdict[str, list[Run]] = defaultdict(list)
    for run in sorted(runs, key=lambda run: (run.ended_at, run.duration_ms or 0)):
        by_task[run.task_id].append(run)
    parallel = {task for task, found in by_task.items() if _overlap(found)}
    in_turn = [found for task, found in by_task.items() if task not in parallel]
    is_regardless = _are_repeated_regardless(in_turn)
    attempts: dict[int, TaskAttempt] = {}
    for task, found in by_task.items():
        is_whole = len(found) > 1 and (is_regardless or task in parallel)
        attempts.update(_attempts(task, found, is_whole=is_whole))
    return attempts


def _attempts(
    task: str, runs: Sequence[Run], *, is_whole: bool
) -> Iterable[tuple[int, TaskAttempt]]:
    """Yield the attempts at one task; of runs that ended at the same time, neither precedes."""
    first = min((run.ended_at for run in runs if run.success), default=inf)
    is_repeated = sum(run.ended_at > first for run in runs) > 1
    failed = sorted(run.ended_at for run in runs if not run.success)
    for run in runs:
        is_after = run.ended_at > first
        is_within = is_whole or (is_after and is_repeated)
        yield (
            run.outcome,
            TaskAttempt(task if is_within else None, bisect_left(failed, run.ended_at), is_after),
        )


def _overlap(runs: Sequence[Run]) -> bool:
    """Return whether each of several runs began before the one that ended before it had ended.

    Runs that ended at one moment overlap, whatever is known of how long they took.
    """
    pairs = pairwise(runs)
    return len(runs) > 1 and all(
        after.ended_at == before.ended_at
        or after.ended_at - (after.duration_ms or 0) / 1000 < before.ended_at
        for before, after in pairs
    )


def _are_repeated_regardless(tasks: Iterable[Sequence[Run]]) -> bool:
    """Return whether runs follow the successes of these tasks as often as their failures."""
    ended, followed = [0, 0], [0, 0]
    for runs in tasks:
        for run in runs:
            ended[run.success] += 1
            followed[run.success] += run.ended_at < runs[-1].ended_at
    if not followed[True]:
        return False
    return followed[True] * ended[False] >= _AS_OFTEN * followed[False] * ended[True]
