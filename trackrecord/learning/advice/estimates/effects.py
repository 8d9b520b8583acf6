"""Effects: the part of a success rate that is due to the run's actions, and not to its task.

Runs are compared within strata: the runs of one task where none depends on how another one ended,
else those of one kind of task that follow as many failures. In a stratum a run's success is
expected to be the stratum's rate plus the effect of each label that the run has (its patterns, or
its procedure). The effects that fit best are found by taking turns: the rates of the strata given
the effects, the effects given the rates (least squares with a ridge, Gauss and Seidel's method). In
one stratum with two labels this is Mantel and Haenszel's weighted difference; with more labels it
also accounts for who a label is compared with, which that difference does not.

The additive fit: the rates of strata and the effects of labels that explain successes best.

A run's success is expected to be the rate of its stratum plus the effects of its labels. Least
squares, the effects with a ridge; solved by taking turns (Gauss and Seidel's method).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from math import sqrt
from operator import mul
from typing import Final, NamedTuple

import msgspec

from .posterior import PRIOR_STRENGTH

# The effect of a label is drawn towards 0 as if by one run that it could be compared with.
RIDGE: Final = 1.0
_MOST_TURNS: Final = 60
# Effects are shown in whole points.
_ENOUGH: Final = 2e-4


class Cells:
    """Runs with the same stratum and the same labels, and the fit to them.

    Attributes:
        strata: the number of each cell's stratum.
        runs: the decayed runs of each cell, above 0.
        successes: the decayed successes among them.
        label_counts: how many labels each cell has.
        label_runs: the decayed runs of each label.
        left: the successes of each cell that are not explained yet.
        of_stratum: the cells of each stratum.
        of_label: the cells of each label.
        stratum_runs: the decayed runs of each stratum.
        effects: the effect of each label.
    """

    def __init__(self, labels: int) -> None:
        self.strata: list[int] = []
        self.runs: list[float] = []
        self.successes: list[float] = []
        self.label_counts: list[int] = []
        self.left: list[float] = []
        self.of_stratum: list[list[int]] = []
        self.of_label: list[list[int]] = [[] for _ in range(labels)]
        self.stratum_runs: list[float] = []
        self.label_runs = [0.0] * labels
        self.effects = [0.0] * labels
        self._number_of: dict[str, int] = {}

    def add(self, stratum: str, labels: Iterable[int], runs: float, successes: float) -> None:
        """Add a cell."""
        cell = len(self.runs)
        number = self._number_of.setdefault(stratum, len(self.of_stratum))
        if number == len(self.of_stratum):
            self.of_stratum.append([])
            self.stratum_runs.append(0.0)
        self.of_stratum[number].append(cell)
        self.stratum_runs[number] += runs
        labels = list(labels)
        for label in labels:
            self.of_label[label].append(cell)
            self.label_runs[label] += runs
        self.strata.append(number)
        self.runs.append(runs)
        self.successes.append(successes)
        self.left.append(successes)
        self.label_counts.append(len(labels))

    def effects_by_cell(self) -> list[float]:
        """Return the sum of the effects of each cell's labels."""
        sums = [0.0] * len(self.runs)
        for effect, cells in zip(self.effects, self.of_label, strict=True):
            for cell in cells:
                sums[cell] += effect
        return sums


def settle(cells: Cells) -> None:
    """Fit the effects: take turns until nothing changes any more."""
    _set_rates(cells)
    for _ in range(_MOST_TURNS):
        change = _set_effects(cells)
        _set_rates(cells)
        if change < _ENOUGH:
            break


def _set_rates(cells: Cells) -> None:
    """Let each stratum's rate explain the rest of its successes."""
    runs, left = cells.runs, cells.left
    for whole, members in zip(cells.stratum_runs, cells.of_stratum, strict=True):
        step = sum([left[cell] for cell in members]) / whole
        for cell in members:
            left[cell] -= runs[cell] * step


def _set_effects(cells: Cells) -> float:
    """Let each label's effect explain the rest of its successes; return the largest change."""
    runs, left, effects = cells.runs, cells.left, cells.effects
    change = 0.0
    for label, members in enumerate(cells.of_label):
        if not members:
            continue
        unexplained = sum([left[cell] for cell in members])
        step = (unexplained - RIDGE * effects[label]) / (cells.label_runs[label] + RIDGE)
        effects[label] += step
        for cell in members:
            left[cell] -= runs[cell] * step
        change = max(change, abs(step))
    return change


def information(cells: Cells) -> list[list[float]]:
    """Return the information of the runs on each pair of labels within strata, with the ridge.

    The inverse, times the variance of a success, is the covariance of the effects.
    """
    labels = len(cells.effects)
    matrix = [
        [RIDGE if row == column else 0.0 for column in range(labels)] for row in range(labels)
    ]
    of_cell: list[list[int]] = [[] for _ in cells.runs]
    for label, members in enumerate(cells.of_label):
        for cell in members:
            of_cell[cell].append(label)
    for whole, members in zip(cells.stratum_runs, cells.of_stratum, strict=True):
        runs: dict[int, float] = {}
        for cell in members:
            for one in of_cell[cell]:
                runs[one] = runs.get(one, 0.0) + cells.runs[cell]
                for other in of_cell[cell]:
                    matrix[one][other] += cells.runs[cell]
        for one, mine in runs.items():
            row = matrix[one]
            for other, theirs in runs.items():
                row[other] -= mine * theirs / whole
    return matrix


def inverse_of(matrix: list[list[float]]) -> list[list[float]]:
    """Return the inverse of a symmetric, positive definite matrix (Gauss and Jordan)."""
    size = len(matrix)
    rows = [
        [*row, *(float(place == each) for each in range(size))] for place, row in enumerate(matrix)
    ]
    for place in range(size):
        pivot = rows[place][place]
        rows[place] = lead = [each / pivot for each in rows[place]]
        for other in range(size):
            factor = rows[other][place]
            if other != place and factor:
                rows[other] = [
                    one - factor * two for one, two in zip(rows[other], lead, strict=True)
                ]
    return [row[size:] for row in rows]


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
