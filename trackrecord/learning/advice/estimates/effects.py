"""Effects: how much of a success rate is due to what a run did, and not to its task.

Runs are compared within strata: the runs of one task where there are several, else those of one
kind of task. In a stratum a run's success is expected to be the stratum's rate plus the effect of
each label that the run has (its patterns, or its procedure). The effects that fit best are found by
taking turns: the rates of the strata given the effects, the effects given the rates (least squares
with a ridge, Gauss and Seidel's method). In one stratum with two labels this is Mantel and
Haenszel's weighted difference; with more labels it also accounts for who a label is compared with,
which that difference does not.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final

# The effect of a label is drawn towards 0 as if by one run that it could be compared with.
_RIDGE: Final = 1.0
_MOST_TURNS: Final = 60
_ENOUGH: Final = 1e-4
# A normal distribution has 90% of its mass within so many standard deviations.
_DEVIATIONS: Final = 1.645
# The variance of a success is no more than this; it is assumed of so many runs before any is seen.
_MOST_VARIANCE: Final = 0.25
_ASSUMED_RUNS: Final = 4.0


@dataclass(frozen=True, slots=True)
class Trial:
    """A run as far as effects are concerned.

    Attributes:
        stratum: the runs it is compared with have the same.
        labels: what it did; in an order that does not matter.
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


@dataclass(slots=True)
class _Cell:
    """The runs of one stratum that have the same labels."""

    stratum: int
    labels: tuple[int, ...]
    runs: float = 0.0
    successes: float = 0.0


def effects_of(trials: Iterable[Trial]) -> dict[str, Effect]:
    """Return the effect of each label; the order of trials with equal weights does not matter."""
    trials = list(trials)
    comparable = _comparable(trials)
    names = sorted({label for trial in trials for label in trial.labels})
    number_of = {name: number for number, name in enumerate(names)}
    cells = _cells(comparable, number_of)
    fit = _Fit(cells, len(names))
    fit.settle()
    return {name: fit.effect(number) for name, number in number_of.items()}


def _comparable(trials: Sequence[Trial]) -> list[Trial]:
    """Return the trials of strata with runs that differ in what they did."""
    seen: dict[str, tuple[str, ...]] = {}
    varied: set[str] = set()
    for trial in trials:
        if seen.setdefault(trial.stratum, trial.labels) != trial.labels:
            varied.add(trial.stratum)
    return [trial for trial in trials if trial.stratum in varied and trial.weight > 0.0]


def _cells(trials: Iterable[Trial], number_of: Mapping[str, int]) -> list[_Cell]:
    """Return the cells of trials, in an order that depends on their content alone."""
    cells: dict[tuple[str, tuple[int, ...]], _Cell] = {}
    for trial in trials:
        labels = tuple(sorted({number_of[label] for label in trial.labels}))
        key = (trial.stratum, labels)
        cell = cells.get(key)
        if cell is None:
            cell = cells[key] = _Cell(0, labels)
        cell.runs += trial.weight
        cell.successes += trial.weight * trial.success
    strata: dict[str, int] = {}
    found = []
    for (stratum, _), cell in sorted(cells.items(), key=lambda item: item[0]):
        cell.stratum = strata.setdefault(stratum, len(strata))
        found.append(cell)
    return found


class _Fit:
    """Rates of strata and effects of labels, found by taking turns."""

    def __init__(self, cells: Collection[_Cell], labels: int) -> None:
        self._by_stratum: dict[int, list[_Cell]] = defaultdict(list)
        self._by_label: dict[int, list[_Cell]] = defaultdict(list)
        for cell in cells:
            self._by_stratum[cell.stratum].append(cell)
            for label in cell.labels:
                self._by_label[label].append(cell)
        self._rates = [0.0] * len(self._by_stratum)
        self._runs = [sum(cell.runs for cell in group) for group in self._by_stratum.values()]
        self._effects = [0.0] * labels

    def settle(self) -> None:
        """Take turns until nothing changes any more."""
        for _ in range(_MOST_TURNS):
            self._set_rates()
            if self._set_effects() < _ENOUGH:
                break
        self._set_rates()
        self._variance = self._unexplained()
        self._total = sum(self._runs)
        self._done = sum(
            cell.runs * self._done_by(cell) for cells in self._by_stratum.values() for cell in cells
        )
        self._labels = sum(
            cell.runs * len(cell.labels) for cells in self._by_stratum.values() for cell in cells
        )

    def _done_by(self, cell: _Cell) -> float:
        return sum(self._effects[label] for label in cell.labels)

    def _set_rates(self) -> None:
        for stratum, cells in self._by_stratum.items():
            left = sum(cell.successes - cell.runs * self._done_by(cell) for cell in cells)
            self._rates[stratum] = left / self._runs[stratum]

    def _set_effects(self) -> float:
        """Set each label's effect to what the others leave of its successes."""
        change = 0.0
        for label, cells in self._by_label.items():
            before = self._effects[label]
            left = runs = 0.0
            for cell in cells:
                others = self._done_by(cell) - before
                left += cell.successes - cell.runs * (self._rates[cell.stratum] + others)
                runs += cell.runs
            self._effects[label] = left / (runs + _RIDGE)
            change = max(change, abs(self._effects[label] - before))
        return change

    def _unexplained(self) -> float:
        """Return the variance of a success around its expected rate."""
        squares, freedom = _MOST_VARIANCE * _ASSUMED_RUNS, _ASSUMED_RUNS
        for stratum, cells in self._by_stratum.items():
            freedom += max(0.0, self._runs[stratum] - 1.0)
            for cell in cells:
                rate = cell.successes / cell.runs
                error = rate - self._rates[stratum] - self._done_by(cell)
                squares += cell.runs * (rate * (1.0 - rate) + error * error)
        return min(_MOST_VARIANCE, squares / freedom)

    def effect(self, label: int) -> Effect:
        """Return the effect of a label against what such tasks do otherwise."""
        cells = self._by_label.get(label)
        if not cells:
            return NO_EFFECT
        here: Counter[int] = Counter()
        for cell in cells:
            here[cell.stratum] += cell.runs  # type: ignore[assignment]
        weights = [
            runs * (self._runs[stratum] - runs) / self._runs[stratum]
            for stratum, runs in here.items()
        ]
        compared = [weight for weight in weights if weight > 0.0]
        weight = sum(compared)
        if not compared:
            return NO_EFFECT
        difference = self._effects[label] - self._instead(cells)
        spread = _DEVIATIONS * sqrt(self._variance / (weight + _RIDGE))
        difference = max(-1.0, min(1.0, difference))
        return Effect(
            difference,
            max(-1.0, difference - spread),
            min(1.0, difference + spread),
            len(compared),
            weight,
        )

    def _instead(self, cells: Iterable[_Cell]) -> float:
        """Return the effect of what other runs do in place of this.

        Where runs have exactly one label each, that is the mean effect of the other labels; where
        labels come and go independently of each other, it is nothing.
        """
        runs = done = labels = 0.0
        for cell in cells:
            runs += cell.runs
            done += cell.runs * self._done_by(cell)
            labels += cell.runs * len(cell.labels)
        without = self._total - runs
        elsewhere = self._labels - labels
        if without <= 0.0 or elsewhere <= 0.0:
            return 0.0
        beside = (labels - runs) / runs
        share = max(0.0, 1.0 - beside * without / elsewhere)
        return share * (self._done - done) / without
