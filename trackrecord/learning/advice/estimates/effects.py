"""Effects: the part of a success rate that is due to the run's actions, and not to its task.

Runs are compared within strata: the runs of one task where none depends on how another one ended,
else those of one kind of task that follow as many failures. In a stratum a run's success is
expected to be the stratum's rate plus the effect of each label that the run has (its patterns, or
its procedure). The effects that fit best are found by taking turns: the rates of the strata given
the effects, the effects given the rates (least squares with a ridge, Gauss and Seidel's method). In
one stratum with two labels this is Mantel and Haenszel's weighted difference; with more labels it
also accounts for who a label is compared with, which that difference does not.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from math import sqrt
from operator import mul
from typing import Final, NamedTuple

import msgspec

from .additive_fit import RIDGE, Cells, information, inverse_of, settle
from .posterior import PRIOR_STRENGTH

# A normal distribution has 90% of its mass within so many standard deviations.
_DEVIATIONS: Final = 1.645
# The variance of a success is no more than this; it is assumed of so many runs before any is seen.
_MOST_VARIANCE: Final = 0.25
_ASSUMED_RUNS: Final = 4.0
_LEAST_VARIANCE: Final = 1e-9
# Of more labels it is not reckoned how far they explain each other: that takes their third power.
_MOST_TOLD_APART: Final = 60


class EffectRun(NamedTuple):
    """A run as far as effects are concerned.

    Attributes:
        stratum: the runs it is compared with have the same.
        labels: what it did, sorted, each once.
        weight: how much it counts for its age, 0..1.
        success: whether it reached its goal.
        is_within_task: whether its stratum is one task, and not a kind of task.
        task: the task.
        together: how many runs of its task, all of which did the same, count as one with it.
    """

    stratum: str
    labels: tuple[str, ...]
    weight: float
    success: bool
    is_within_task: bool = False
    task: str = ""
    together: int = 1


class Effect(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The difference that a label makes to the rate of success.

    Attributes:
        difference: to what such tasks do otherwise, -1..1; 0 without anything to compare.
        low: the lower end of its interval.
        high: the upper end.
        strata: how many strata hold runs with and without the label.
        weight: the runs that could be compared, decayed: Σ n·m ÷ (n + m) for n runs with and m
            runs without the label.
    """

    difference: float
    low: float
    high: float
    strata: int = 0
    weight: float = 0.0

    @property
    def is_known(self) -> bool:
        """Return whether there was anything to compare."""
        return self.strata > 0


NO_EFFECT: Final = Effect(0.0, -1.0, 1.0)


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
    own = 1.0 / _squared_error(part)
    expected = 1.0 / (_squared_error(effect) + _MOST_VARIANCE / PRIOR_STRENGTH)
    difference = (own * part.difference + expected * effect.difference) / (own + expected)
    return _around(difference, _DEVIATIONS / sqrt(own + expected), part.strata, part.weight)


def _squared_error(effect: Effect) -> float:
    # One end may be cut off at -1 or 1.
    half = max(effect.high - effect.difference, effect.difference - effect.low)
    return max(_LEAST_VARIANCE, (half / _DEVIATIONS) ** 2)


def _around(difference: float, spread: float, strata: int, weight: float) -> Effect:
    difference = max(-1.0, min(1.0, difference))
    low, high = max(-1.0, difference - spread), min(1.0, difference + spread)
    return Effect(difference, low, high, strata, weight)


def effects_of(trials: Iterable[EffectRun], *, is_one_kind: bool = False) -> dict[str, Effect]:
    """Return the effect of each label; the order of trials with equal weights does not matter.

    Kinds of task are told by words and may be wrong, so that comparing within them takes away only
    a part of what the tasks do. An interval therefore reaches as far beyond the effect as comparing
    within kinds has moved it. Runs of one task need no such reach.

    Args:
        trials: in any order.
        is_one_kind: whether all are of one kind of task, so that nothing else is known of it.
    """
    trials = list(trials)
    names = sorted({label for trial in trials for label in trial.labels})
    comparable = _comparable(trials)
    tells_apart = not is_one_kind and len(names) <= _MOST_TOLD_APART
    found = _Contrast(comparable, tells_apart=tells_apart)
    of_kinds = [trial for trial in comparable if not trial.is_within_task]
    if is_one_kind or not of_kinds:
        return {name: found.effect(name) for name in names}
    by_kind = found
    if len(of_kinds) < len(comparable):
        by_kind = _Contrast(of_kinds)
    crude = _Contrast([trial._replace(stratum="") for trial in of_kinds])
    return {name: _reaching(found, by_kind, crude, name) for name in names}


def _reaching(found: "_Contrast", by_kind: "_Contrast", crude: "_Contrast", label: str) -> Effect:
    """Return an effect whose interval reaches as far beyond as comparing within kinds moved it."""
    effect = found.effect(label)
    adjusted = effect if by_kind is found else by_kind.effect(label)
    if not (effect.is_known and adjusted.is_known):
        return effect
    moved = adjusted.difference - crude.difference(label)
    moved *= min(1.0, adjusted.weight / effect.weight)
    low, high = effect.low + min(0.0, moved), effect.high + max(0.0, moved)
    return msgspec.structs.replace(effect, low=max(-1.0, low), high=min(1.0, high))


def _settled(trials: Sequence[EffectRun]) -> tuple[Cells, dict[str, int]]:
    """Return the fit, and the number of each label in it.

    Labels that always come together cannot be told apart and have one number: what is due to them
    is due to each. Of two numbers, neither would have more than a part of it.
    """
    groups = sorted(_grouped(trials).items())
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, ((_, labels), _) in enumerate(groups):
        for label in labels:
            places[label].append(place)
    numbers: dict[tuple[int, ...], int] = {}
    number_of = {
        label: numbers.setdefault(tuple(found), len(numbers))
        for label, found in sorted(places.items())
    }
    cells = Cells(len(numbers))
    for (stratum, labels), (runs, successes) in groups:
        cells.add(stratum, sorted({number_of[label] for label in labels}), runs, successes)
    settle(cells)
    return cells, number_of


def _comparable(trials: Sequence[EffectRun]) -> list[EffectRun]:
    """Return the trials of strata whose runs differ in their labels."""
    seen: dict[str, tuple[str, ...]] = {}
    varied: set[str] = set()
    for trial in trials:
        if seen.setdefault(trial.stratum, trial.labels) != trial.labels:
            varied.add(trial.stratum)
    return [trial for trial in trials if trial.stratum in varied and trial.weight > 0.0]


def _grouped(
    trials: Iterable[EffectRun],
) -> dict[tuple[str, tuple[str, ...]], tuple[float, float]]:
    """Return the runs and successes of the trials with the same stratum and labels."""
    groups: dict[tuple[str, tuple[str, ...]], tuple[float, float]] = {}
    for trial in trials:
        key = (trial.stratum, trial.labels)
        runs, successes = groups.get(key, (0.0, 0.0))
        groups[key] = (runs + trial.weight, successes + trial.weight * trial.success)
    return groups


class _Contrast:
    """A settled effect, against the other runs of the same strata."""

    def __init__(self, trials: Sequence[EffectRun], *, tells_apart: bool = False) -> None:
        self._cells, self._number_of = _settled(trials)
        cells = self._cells
        self._tells_apart = tells_apart
        self._done = cells.effects_by_cell()
        self._variance = _variance(cells)
        self._total = sum(cells.runs)
        self._total_done: float = sum(map(mul, cells.runs, self._done))
        self._total_labels: float = sum(map(mul, cells.runs, cells.label_counts))

    def effect(self, name: str) -> Effect:
        """Return the effect of a label against what such tasks do otherwise."""
        label = self._number_of.get(name)
        compared = [] if label is None else list(filter(None, self._weights(label)))
        if label is None or not compared:
            return NO_EFFECT
        weight = sum(compared)
        spread = _DEVIATIONS * sqrt(self._variance * max(self._doubt(label), 1 / (weight + RIDGE)))
        return _around(self.difference(name), spread, len(compared), weight)

    def difference(self, name: str) -> float:
        """Return the difference to other runs of such tasks, -1..1."""
        label = self._number_of[name]
        return max(-1.0, min(1.0, self._cells.effects[label] - self._instead(label)))

    def _weights(self, label: int) -> Iterable[float]:
        """Return n·m ÷ (n + m) of each stratum, for n runs with the label and m without it."""
        cells = self._cells
        here: dict[int, float] = {}
        for cell in cells.of_label[label]:
            stratum = cells.strata[cell]
            here[stratum] = here.get(stratum, 0.0) + cells.runs[cell]
        for stratum, runs in here.items():
            whole = cells.stratum_runs[stratum]
            yield runs * max(0.0, whole - runs) / whole

    def _doubt(self, label: int) -> float:
        """Return the variance of a contrast, in variances of one success; 0 if it is not reckoned.

        Labels that come with the same strata explain each other: what cannot be told apart is
        doubted more than by the number of runs.
        """
        if not self._tells_apart:
            return 0.0
        contrast = self._contrast(label)
        rows = self._inverse
        return sum(
            one * sum(other * row[place] for place, other in enumerate(contrast) if other)
            for one, row in zip(contrast, rows, strict=True)
            if one
        )

    @cached_property
    def _inverse(self) -> list[list[float]]:
        return inverse_of(information(self._cells))

    def _contrast(self, label: int) -> list[float]:
        """Return how much of each label's effect the contrast holds."""
        cells = self._cells
        mine = set(cells.of_label[label])
        without = self._total - cells.label_runs[label]
        share = self._share_instead(label)
        contrast = [0.0] * len(cells.effects)
        if share and without > 0.0:
            for other, members in enumerate(cells.of_label):
                runs = sum(cells.runs[cell] for cell in members if cell not in mine)
                contrast[other] = -share * runs / without
        contrast[label] = 1.0
        return contrast

    def _instead(self, label: int) -> float:
        """Return the effect of the labels that other runs have instead.

        Where runs have exactly one label each, that is the mean effect of the other labels; where
        labels come and go independently of each other, it is nothing.
        """
        cells = self._cells
        share = self._share_instead(label)
        if not share:
            return 0.0
        done = sum(cells.runs[cell] * self._done[cell] for cell in cells.of_label[label])
        return share * (self._total_done - done) / (self._total - cells.label_runs[label])

    def _share_instead(self, label: int) -> float:
        """Return how far the other labels replace this one: 1 where runs have just one label."""
        cells = self._cells
        mine = cells.of_label[label]
        runs = cells.label_runs[label]
        labels = sum(cells.runs[cell] * cells.label_counts[cell] for cell in mine)
        without, elsewhere = self._total - runs, self._total_labels - labels
        if without <= 0.0 or elsewhere <= 0.0:
            return 0.0
        beside = (labels - runs) / runs
        return max(0.0, 1.0 - beside * without / elsewhere)


def _variance(cells: Cells) -> float:
    """Return the variance of a success around the rate that the fit gives."""
    squares, freedom = _MOST_VARIANCE * _ASSUMED_RUNS, _ASSUMED_RUNS
    freedom += sum(max(0.0, runs - 1.0) for runs in cells.stratum_runs)
    for runs, successes, left in zip(cells.runs, cells.successes, cells.left, strict=True):
        rate = successes / runs
        squares += runs * (rate * (1.0 - rate) + (left / runs) ** 2)
    return min(_MOST_VARIANCE, squares / freedom)
