"""The whole report on the effect of advice, from a set of trials."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil, isfinite
from typing import Final

from .comparison import FEWEST, MEASURES, SUCCESS, Comparison, compare, fewest_tasks
from .sequence import tasks_for
from .trials import Trial, Trials

# The difference in success that a user would want to know about.
WORTH_KNOWING: Final = 0.1


@dataclass(frozen=True)
class EffectReport:
    """The effect of advice.

    Attributes:
        overall: each measure compared over all tasks; those that nobody reported are missing.
        kinds: success by kind of task.
        tasks: the tasks that ended and count: with and without advice.
        open: tasks without an outcome yet: with and without advice.
        empty: tasks that nothing would have been handed to.
        holdout: the share of tasks that was withheld advice last; 0 while none is.
        needed: how many more tasks show a difference of ten points in four of five projects; None
            while no task is withheld, 0 when they are there.
        repeats: exposures of tasks that had been handed something before; a task counts once.
    """

    overall: tuple[Comparison, ...] = ()
    kinds: Mapping[str, Comparison] | None = None
    tasks: tuple[int, int] = (0, 0)
    open: tuple[int, int] = (0, 0)
    empty: int = 0
    holdout: float = 0.0
    needed: int | None = None
    repeats: int = 0

    @property
    def success(self) -> Comparison | None:
        """Return the comparison of success; None without a task."""
        return self.overall[0] if self.overall else None


def effect_of(trials: Trials) -> EffectReport:
    """Return what advice did.

    Args:
        trials: the tasks that were assigned.
    """
    ended = trials.ended
    given = sum(trial.is_given for trial in ended)
    has_gaps = trials.lack_unequally
    overall = [replace(compare(ended, measure), has_gaps=has_gaps) for measure in MEASURES]
    success = overall[0]
    holdout = ended[-1].exposure.holdout if ended else 0.0
    return EffectReport(
        overall=tuple(each for each in overall if each is success or each.given.tasks),
        kinds={kind: replace(each, has_gaps=has_gaps) for kind, each in _by_kind(ended).items()},
        tasks=(given, len(ended) - given),
        open=trials.open,
        empty=trials.empty,
        holdout=holdout,
        needed=_needed(success, holdout),
        repeats=trials.repeats,
    )


def _by_kind(trials: tuple[Trial, ...]) -> dict[str, Comparison]:
    kinds: dict[str, list[Trial]] = {}
    for trial in trials:
        kinds.setdefault(trial.kind, []).append(trial)
    # Each kind's sequence has its share of what may go wrong.
    alpha = 0.05 / max(1, len(kinds))
    return {kind: compare(kinds[kind], SUCCESS, alpha) for kind in sorted(kinds)}


def _needed(success: Comparison, holdout: float) -> int | None:
    if not 0.0 < holdout < 1.0:
        return None
    known = success.given.tasks + success.withheld.tasks
    spread = success.spread if success.spread > 0.0 else 0.5
    wanted = max(
        tasks_for(WORTH_KNOWING, spread, holdout),
        _fewest(success, holdout),
    )
    return max(0, wanted - known)


def _fewest(success: Comparison, holdout: float) -> int:
    needed: tuple[float, float] = FEWEST, FEWEST
    if success.given.tasks and success.withheld.tasks:
        needed = fewest_tasks(success.measure, success.given, success.withheld)
    given, withheld = (each if isfinite(each) else FEWEST for each in needed)
    return ceil(max(given / (1.0 - holdout), withheld / holdout))
