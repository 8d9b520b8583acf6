"""Trials: the tasks that were assigned to an arm, each with how it ended."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from math import sqrt

import msgspec

from ...numbers.wilson import Z
from ..runs.runs import Run
from ..tasks.kinds import find_kinds


class Exposure(msgspec.Struct, frozen=True, kw_only=True):
    """The exposure of one task.

    Attributes:
        exposure_id: given by the producer.
        task_id: the task.
        at: when, seconds since the epoch.
        is_withheld: whether the task belongs to the holdout: then it got nothing, and the entries
            are those that it would have got.
        holdout: the share of tasks that was withheld advice at that time.
        propensity: how probable it was that the task was assigned so.
        revision: the revision of the rankings.
        entries: the ids of the entries, best first.
    """

    exposure_id: str
    task_id: str
    at: float
    is_withheld: bool = False
    holdout: float = 0.0
    propensity: float = 1.0
    revision: int = 0
    entries: tuple[str, ...] = ()


def first_exposures(exposures: Iterable[Exposure]) -> dict[str, Exposure]:
    """Return the first exposure of each task by its id, for exposures in any order.

    Later ones are retries: their tasks were assigned before.
    """
    first: dict[str, Exposure] = {}
    for each in exposures:
        known = first.get(each.task_id)
        if known is None or (each.at, each.exposure_id) < (known.at, known.exposure_id):
            first[each.task_id] = each
    return first


# Clocks of one fleet differ, and a moment may have been rounded to a second.
_CLOCK_SLACK_S = 60.0


@dataclass(frozen=True)
class Trial:
    """One task that was assigned, and how it ended.

    Attributes:
        exposure: what it was handed, or would have been handed.
        run: how it ended.
        kind: its kind of task.
    """

    exposure: Exposure
    run: Run
    kind: str

    @property
    def is_given(self) -> bool:
        """Return whether the task was given advice."""
        return not self.exposure.is_withheld

    @property
    def stratum(self) -> tuple[str, float]:
        """Return the stratum of the task, within which tasks are compared.

        The share of the holdout is part of it: while that changes, so may the tasks.
        """
        return self.kind, self.exposure.holdout


@dataclass(frozen=True)
class Trials:
    """All tasks of a project that were assigned.

    Attributes:
        ended: those that ended and that something was handed to, or would have been, in the order
            of their exposures.
        waiting: what those were handed that have no outcome yet.
        empty: those that nothing would have been handed to anyway.
        repeats: further exposures of tasks that had been assigned before.
    """

    ended: tuple[Trial, ...] = ()
    waiting: tuple[Exposure, ...] = ()
    empty: int = 0
    repeats: int = 0

    @property
    def open(self) -> tuple[int, int]:
        """Return how many tasks have no outcome yet: with advice, without."""
        withheld = sum(each.is_withheld for each in self.waiting)
        return len(self.waiting) - withheld, withheld

    @property
    def lack_unequally(self) -> bool:
        """Return whether one arm lacks more outcomes than chance explains in 95% of cases.

        Compared within periods of the same holdout: while that changes, so may what has ended.
        """
        excess = variance = 0.0
        for cell in self._cells():
            tasks, withheld = sum(map(sum, cell)), sum(cell[True])
            lacking = cell[False][1] + cell[True][1]
            if tasks > 1:
                excess += cell[True][1] - withheld * lacking / tasks
                among = withheld * (tasks - withheld) * lacking * (tasks - lacking)
                variance += among / (tasks * tasks * (tasks - 1))
        return abs(excess) > Z * sqrt(variance)

    def _cells(self) -> Iterable[tuple[list[int], list[int]]]:
        """Return the tasks of each holdout: by arm, those with an outcome and those without."""
        cells: dict[float, tuple[list[int], list[int]]] = {}
        ended = ((trial.exposure, 0) for trial in self.ended)
        for exposure, lacks in (*ended, *((each, 1) for each in self.waiting)):
            cell = cells.setdefault(exposure.holdout, ([0, 0], [0, 0]))
            cell[exposure.is_withheld][lacks] += 1
        return [cells[holdout] for holdout in sorted(cells)]


def trials_of(exposures: Iterable[Exposure], runs: Iterable[Run]) -> Trials:
    """Join exposures with the outcomes of their tasks; a function of both sets.

    The first exposure of a task counts, and the first outcome that it had from then on.

    Args:
        exposures: of one project, in any order.
        runs: of the same project, in any order.
    """
    distinct = {each.exposure_id: each for each in exposures}
    first = first_exposures(distinct.values())
    outcomes: dict[str, Run] = {}
    for run in runs:
        exposure = first.get(run.task_id)
        if exposure is None or run.ended_at < exposure.at - _CLOCK_SLACK_S:
            continue
        known = outcomes.get(run.task_id)
        if known is None or (run.ended_at, run.outcome) < (known.ended_at, known.outcome):
            outcomes[run.task_id] = run
    kinds = _kinds(outcomes.values())
    ended = []
    waiting = []
    empty = 0
    for exposure in sorted(first.values(), key=lambda each: (each.at, each.exposure_id)):
        if not exposure.entries:
            empty += 1
        elif (found := outcomes.get(exposure.task_id)) is not None:
            ended.append(Trial(exposure, found, kinds[found.outcome]))
        else:
            waiting.append(exposure)
    repeats = len(distinct) - len(first)
    return Trials(tuple(ended), tuple(waiting), empty, repeats)


def _kinds(runs: Collection[Run]) -> dict[int, str]:
    """Return the kind of each run's task, by its outcome."""
    kinds = find_kinds(runs)
    positions = kinds.positions(runs)
    return {
        run.outcome: kinds.names[position] for run, position in zip(runs, positions, strict=True)
    }
