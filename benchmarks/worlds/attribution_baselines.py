"""Baselines for effects: the product's score, the rate, two textbook estimators."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import exp, log

from trackrecord.learning.advice.runs.runs import Run
from trackrecord.learning.patterns.evidence import Evidence
from trackrecord.learning.patterns.maturity import MaturityRules, maturity_of, pattern_score

_RULES = MaturityRules()
_TURNS = 20

# (runs, successes) by stratum and strategy.
Cells = Mapping[tuple[str, str], tuple[int, int]]


def cells_of(runs: Sequence[Run], *, by_task: bool) -> Cells:
    """Return the runs and successes of each strategy in each stratum."""
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    for run in runs:
        cell = counts[run.task_id if by_task else run.trigger, run.patterns[0]]
        cell[0] += 1
        cell[1] += run.success
    return {key: (n, s) for key, (n, s) in counts.items()}


def _totals(cells: Cells, place: int) -> dict[str, tuple[int, int]]:
    """Return the sums over all strata (place 1) or over all strategies (place 0)."""
    sums: dict[str, tuple[int, int]] = {}
    for key, (n, s) in cells.items():
        runs, successes = sums.get(key[place], (0, 0))
        sums[key[place]] = (runs + n, successes + s)
    return sums


def product_score(cells: Cells) -> dict[str, float]:
    """Return the score by which patterns are ranked by their state."""
    scores = {}
    for strategy, (n, s) in _totals(cells, 1).items():
        evidence = Evidence(
            helpful=s,
            harmful=n - s,
            decayed_helpful=s,
            decayed_harmful=n - s,
            succeeded=s,
        )
        scores[strategy] = pattern_score(_RULES, evidence, maturity_of(_RULES, evidence))
    return scores


def crude_rate(cells: Cells) -> dict[str, float]:
    """Return the success rate, ignoring the task."""
    return {strategy: (s + 1) / (n + 2) for strategy, (n, s) in _totals(cells, 1).items()}


def logistic(cells: Cells, *, ridge: float = 1.0, stratum_ridge: float = 0.1) -> dict[str, float]:
    """Return the coefficients of strategies in a penalised logistic fit with strata."""
    total, successes = (sum(each) for each in zip(*cells.values(), strict=True))
    middle = log((successes + 0.5) / (total - successes + 0.5))
    strata = dict.fromkeys(_totals(cells, 0), middle)
    strategies = dict.fromkeys(_totals(cells, 1), 0.0)
    for _ in range(_TURNS):
        _newton(cells, strata, strategies, 0, stratum_ridge, middle)
        _newton(cells, strategies, strata, 1, ridge, 0.0)
    return strategies


def _newton(
    cells: Cells,
    moved: dict[str, float],
    fixed: Mapping[str, float],
    place: int,
    ridge: float,
    middle: float,
) -> None:
    slopes = {name: -ridge * (value - middle) for name, value in moved.items()}
    bends = dict.fromkeys(moved, ridge)
    for key, (n, s) in cells.items():
        rate = 1.0 / (1.0 + exp(-(moved[key[place]] + fixed[key[1 - place]])))
        slopes[key[place]] += s - n * rate
        bends[key[place]] += n * rate * (1.0 - rate)
    for name, slope in slopes.items():
        moved[name] += max(-2.0, min(2.0, slope / bends[name]))
