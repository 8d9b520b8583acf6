"""The additive fit: the rates of strata and the effects of labels that explain successes best.

A run's success is expected to be the rate of its stratum plus the effects of its labels. Least
squares, the effects with a ridge; solved by taking turns (Gauss and Seidel's method).
"""

from collections.abc import Iterable
from typing import Final

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
