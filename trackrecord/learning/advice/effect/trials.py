"""Trials: the tasks that were assigned to an arm, each with how it ended."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from ..kinds import find_kinds
from ..runs import Run
from .exposures import Exposure, first_exposures

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
        """Whether it was given advice."""
        return not self.exposure.is_withheld

    @property
    def stratum(self) -> tuple[str, float]:
        """Return what is alike in the tasks that it is compared with.

        The share of the holdout is part of it: while that changes, so may the tasks.
        """
        return self.kind, self.exposure.holdout


@dataclass(frozen=True)
class Trials:
    """All tasks of a project that were assigned.

    Attributes:
        ended: those that ended and that something was handed to, or would have been, in the order
            of their exposures.
        open: those that have no outcome yet, by arm: given, withheld.
        empty: those that nothing would have been handed to anyway.
    """

    ended: tuple[Trial, ...] = ()
    open: tuple[int, int] = (0, 0)
    empty: int = 0


def trials_of(exposures: Iterable[Exposure], runs: Iterable[Run]) -> Trials:
    """Join exposures with the outcomes of their tasks; a function of both sets.

    The first exposure of a task counts, and the first outcome that it had from then on.

    Args:
        exposures: of one project, in any order.
        runs: of the same project, in any order.
    """
    first = first_exposures(exposures)
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
    waiting = [0, 0]
    empty = 0
    for exposure in sorted(first.values(), key=lambda each: (each.at, each.exposure_id)):
        if not exposure.entries:
            empty += 1
        elif (found := outcomes.get(exposure.task_id)) is not None:
            ended.append(Trial(exposure, found, kinds[found.outcome]))
        else:
            waiting[exposure.is_withheld] += 1
    return Trials(tuple(ended), (waiting[0], waiting[1]), empty)


def _kinds(runs: Collection[Run]) -> dict[int, str]:
    """Return the kind of each run's task, by its outcome."""
    kinds = find_kinds(runs)
    positions = kinds.positions(runs)
    return {
        run.outcome: kinds.names[position] for run, position in zip(runs, positions, strict=True)
    }
