"""Effects: how much of a success rate is due to what a run did, and not to its task.

Runs are compared within strata: the runs of one task where none depends on how another one ended,
else those of one kind of task that follow as many failures. In a stratum a run's success is
expected to be the stratum's rate plus the effect of each label that the run has (its patterns, or
its procedure). The effects that fit best are found by taking turns: the rates of the strata given
the effects, the effects given the rates (least squares with a ridge, Gauss and Seidel's method). In
one stratum with two labels this is Mantel and Haenszel's weighted difference; with more labels it
also accounts for who a label is compared with, which that difference does not.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from operator import mul
from typing import Final

from .additive_fit import RIDGE, Cells, settle
from .posterior import PRIOR_STRENGTH

# A normal distribution has 90% of its mass within so many standard deviations.
_DEVIATIONS: Final = 1.645
# The variance of a success is no more than this; it is assumed of so many runs before any is seen.
_MOST_VARIANCE: Final = 0.25
_ASSUMED_RUNS: Final = 4.0
_LEAST_VARIANCE: Final = 1e-9


@dataclass(frozen=True, slots=True)
class EffectRun:
    """A run as far as effects are concerned.

    Attributes:
        stratum: the runs it is compared with have the same.
        labels: what it did, sorted, each once.
        weight: how much it counts for its age, 0..1.
        success: whether it reached its goal.
    """

    stratum: str
    labels: tuple[str, ...]
    weight: float
    success: bool


@dataclass(frozen=True, slots=True)
class Effect:
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
        """Whether there was anything to compare."""
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


def effects_of(trials: Iterable[EffectRun]) -> dict[str, Effect]:
    """Return the effect of each label; the order of trials with equal weights does not matter."""
    trials = list(trials)
    names = sorted({label for trial in trials for label in trial.labels})
    number_of = {name: number for number, name in enumerate(names)}
    cells = Cells(len(names))
    for (stratum, labels), (runs, successes) in sorted(_grouped(_comparable(trials)).items()):
        cells.add(stratum, [number_of[label] for label in labels], runs, successes)
    settle(cells)
    contrast = _Contrast(cells)
    return {name: contrast.effect(number) for name, number in number_of.items()}


def _comparable(trials: Sequence[EffectRun]) -> list[EffectRun]:
    """Return the trials of strata whose runs differ in what they did."""
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
    """What settled effects come to, against what other runs of the same strata do."""

    def __init__(self, cells: Cells) -> None:
        self._cells = cells
        self._done = cells.effects_by_cell()
        self._variance = _variance(cells)
        self._total = sum(cells.runs)
        self._total_done: float = sum(map(mul, cells.runs, self._done))
        self._total_labels: float = sum(map(mul, cells.runs, cells.label_counts))

    def effect(self, label: int) -> Effect:
        """Return the effect of a label against what such tasks do otherwise."""
        compared = list(filter(None, self._weights(label)))
        if not compared:
            return NO_EFFECT
        weight = sum(compared)
        spread = _DEVIATIONS * sqrt(self._variance / (weight + RIDGE))
        difference = self._cells.effects[label] - self._instead(label)
        return _around(difference, spread, len(compared), weight)

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

    def _instead(self, label: int) -> float:
        """Return the effect of what other runs do in place of this.

        Where runs have exactly one label each, that is the mean effect of the other labels; where
        labels come and go independently of each other, it is nothing.
        """
        cells = self._cells
        mine = cells.of_label[label]
        runs = cells.label_runs[label]
        done = sum(cells.runs[cell] * self._done[cell] for cell in mine)
        labels = sum(cells.runs[cell] * cells.label_counts[cell] for cell in mine)
        without, elsewhere = self._total - runs, self._total_labels - labels
        if without <= 0.0 or elsewhere <= 0.0:
            return 0.0
        beside = (labels - runs) / runs
        share = max(0.0, 1.0 - beside * without / elsewhere)
        return share * (self._total_done - done) / without


def _variance(cells: Cells) -> float:
    """Return the variance of a success around the rate that the fit gives."""
    squares, freedom = _MOST_VARIANCE * _ASSUMED_RUNS, _ASSUMED_RUNS
    freedom += sum(max(0.0, runs - 1.0) for runs in cells.stratum_runs)
    for runs, successes, left in zip(cells.runs, cells.successes, cells.left, strict=True):
        rate = successes / runs
        squares += runs * (rate * (1.0 - rate) + (left / runs) ** 2)
    return min(_MOST_VARIANCE, squares / freedom)
