"""Effects: the part of a success rate that is due to what a run did, and not to its task.

Runs are compared within strata: the runs of one task where none depends on how another one ended,
else those of one kind of task that follow as many failures. The effect of a label (a pattern, or
the procedure) is Mantel and Haenszel's difference of rates: in each stratum the rate of the runs
with the label less that of the runs without it, weighed by n·m ÷ (n + m) for n runs with it and m
without it. A ridge of one run on either side
draws it towards 0.

Source: Mantel and Haenszel (1959), "Statistical aspects of the analysis of data from retrospective
studies of disease"; for differences of rates Greenland and Robins (1985).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from operator import attrgetter
from statistics import NormalDist
from typing import Final, NamedTuple, TypeVar

import msgspec

from .posterior import PRIOR_STRENGTH, TallySum

_Group = TypeVar("_Group")

# The effect of a label is drawn towards 0 as if by one run with it and one without it.
_RIDGE: Final = 0.5
# A normal distribution has 90% of its mass within so many standard deviations.
_DEVIATIONS: Final = 1.645
# The variance of a success is no more than this; it is assumed of so many runs before any is seen.
_MOST_VARIANCE: Final = 0.25
_ASSUMED_RUNS: Final = 4.0
_LEAST_VARIANCE: Final = 1e-9
# With lessons and votes, which are tested by themselves at 1% each, a prompt errs in one of 25.
_LEVEL: Final = 0.02
_LEAST_WEIGHT: Final = 5.0
_LEAST_TASKS: Final = 5
# Runs that weigh less than this have decayed to nothing.
_LEAST_RUNS: Final = 1e-9


class EffectRun(NamedTuple):
    """A run as far as effects are concerned.

    Attributes:
        stratum: the runs it is compared with have the same.
        labels: what it did, sorted, each once.
        weight: how much it counts for its age, 0..1.
        success: whether it reached its goal.
        task: the task.
        is_within_task: whether its stratum is this task, and not a kind of task.
    """

    stratum: str
    labels: tuple[str, ...]
    weight: float
    success: bool
    task: str = ""
    is_within_task: bool = False


class Effect(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The difference that a label makes to the rate of success.

    Attributes:
        difference: to what such tasks do otherwise, -1..1; 0 without anything to compare.
        error: its standard error.
        strata: how many strata hold runs with and without the label.
        weight: the runs that could be compared, decayed: Σ n·m ÷ (n + m).
        tasks: the tasks of the runs with the label in these strata.
        moved: how far comparing within kinds of task has moved it from the difference over all.
    """

    difference: float
    error: float
    strata: int = 0
    weight: float = 0.0
    tasks: int = 0
    moved: float = 0.0

    @property
    def low(self) -> float:
        """The lower end of its 90% interval."""
        return self.at(-_DEVIATIONS)

    @property
    def high(self) -> float:
        """The upper end of its 90% interval."""
        return self.at(_DEVIATIONS)

    def at(self, deviations: float) -> float:
        """Return the difference so many standard errors away, -1..1.

        Kinds of task are told by words and may be wrong, so that comparing within them takes away
        only a part of what the tasks do: as far as that has moved the effect it may move on.
        """
        reach = max(0.0, self.moved) if deviations > 0.0 else min(0.0, self.moved)
        return max(-1.0, min(1.0, self.difference + deviations * self.error + reach))

    @property
    def is_known(self) -> bool:
        """Return whether there was anything to compare."""
        return self.strata > 0


NO_EFFECT: Final = Effect(0.0, 1.0)


def effect_in_kind(effect: Effect, part: Effect) -> Effect:
    """Return a label's effect at one kind of task.

    What was seen at all kinds is expected of each, as if by as many runs as any prior weighs. Both
    are weighed by their precision.

    Args:
        effect: the label's effect at all kinds of task.
        part: its effect at this kind alone.
    """
    if not (effect.is_known and part.is_known):
        return part
    own = 1.0 / (part.error**2 + _LEAST_VARIANCE)
    doubt = effect.error + abs(effect.moved) / _DEVIATIONS
    expected = 1.0 / (doubt**2 + _MOST_VARIANCE / PRIOR_STRENGTH)
    difference = (own * part.difference + expected * effect.difference) / (own + expected)
    return msgspec.structs.replace(part, difference=difference, error=1 / sqrt(own + expected))


def effects_of(runs: Iterable[EffectRun]) -> dict[str, Effect]:
    """Return the effect of each label; the order of runs with equal weights does not matter.

    Labels that always come together have the same effect, the whole of it.
    """
    strata: defaultdict[str, TallySum] = defaultdict(TallySum)
    labels: defaultdict[str, defaultdict[str, TallySum]] = defaultdict(
        lambda: defaultdict(TallySum)
    )
    for run in sorted(runs, key=attrgetter("weight")):
        said = run.task, run.weight, run.success
        strata[run.stratum].add(*said)
        for label in run.labels:
            labels[label][run.stratum].add(*said)
    return {label: _effect(cells, strata) for label, cells in sorted(labels.items())}


def within_kinds(runs: Sequence[EffectRun]) -> dict[str, Effect]:
    """Return the effect of each label over several kinds of task, told by words.

    Its interval reaches as far beyond as comparing within kinds has moved it; the runs that are
    compared within one task move nothing.
    """
    crude = effects_of(
        run if run.is_within_task else run._replace(stratum="any kind") for run in runs
    )
    return {
        label: msgspec.structs.replace(effect, moved=effect.difference - crude[label].difference)
        if effect.is_known
        else NO_EFFECT
        for label, effect in effects_of(runs).items()
    }


def _effect(cells: Mapping[str, TallySum], strata: Mapping[str, TallySum]) -> Effect:
    """Return the difference between runs with a label and those without it."""
    weight = gained = 0.0
    freedom, squares = _ASSUMED_RUNS, _ASSUMED_RUNS * _MOST_VARIANCE
    compared = [
        (cell, whole)
        for name, cell in sorted(cells.items())
        if min(cell.decayed_runs, (whole := strata[name]).decayed_runs - cell.decayed_runs)
        > _LEAST_RUNS
    ]
    for cell, whole in compared:
        runs, others = cell.decayed_runs, whole.decayed_runs - cell.decayed_runs
        won = max(0.0, whole.decayed_successes - cell.decayed_successes)
        rate, other_rate = cell.decayed_successes / runs, min(1.0, won / others)
        part = runs * others / whole.decayed_runs
        weight += part
        gained += part * (rate - other_rate)
        freedom += max(0.0, runs - 1.0) + max(0.0, others - 1.0)
        squares += runs * rate * (1.0 - rate) + others * other_rate * (1.0 - other_rate)
    if weight <= 0.0:
        return NO_EFFECT
    variance = min(_MOST_VARIANCE, squares / freedom)
    return Effect(
        gained / (weight + _RIDGE),
        sqrt(variance / (weight + _RIDGE)),
        len(compared),
        weight,
        len(set().union(*(cell.tasks for cell, _ in compared))),
    )


def surely_better(
    effects: Iterable[tuple[_Group, Mapping[str, Effect]]],
) -> set[tuple[_Group, str]]:
    """Return the labels with which such tasks succeed more often than otherwise, beyond chance.

    Labels are tested that as much as ten runs with and ten without them tell of, and enough tasks;
    and all of them together (Bonferroni).

    Args:
        effects: those of runs that are compared with each other, each with what names them.

    Returns:
        Each label, after the name of its group.
    """
    tested = [
        ((group, label), effect)
        for group, found in effects
        for label, effect in found.items()
        if effect.weight >= _LEAST_WEIGHT and effect.tasks >= _LEAST_TASKS
    ]
    far = NormalDist().inv_cdf(_LEVEL / max(1, len(tested)))
    return {name for name, effect in tested if effect.at(far) > 0.0}
