"""Log odds, and fitting the weight of one term."""

from collections import defaultdict
from collections.abc import Sequence
from math import exp, fsum, inf, log
from typing import Final, NamedTuple

# Nothing that was counted is certain.
_LEAST: Final = 1e-3
_STEPS: Final = 25
_SMALL: Final = 1e-9


class LeftOutRun(NamedTuple):
    """A prediction of a run that was left out, with what came true.

    Attributes:
        task: the run's task; runs of one task are not independent of each other.
        offset: the log odds without the term.
        term: what the term adds at weight 1.
        success: whether the run succeeded.
    """

    task: str
    offset: float
    term: float
    success: bool


def log_odds(probability: float) -> float:
    """Return ln(p/(1 − p)) of a probability, which is taken to lie within 0.001..0.999."""
    within = min(1 - _LEAST, max(_LEAST, probability))
    return log(within / (1 - within))


def probability_of(odds: float) -> float:
    """Return the probability of log odds."""
    return 1 / (1 + exp(-odds)) if odds >= 0 else 1 - 1 / (1 + exp(odds))


def fitted_weight(examples: Sequence[LeftOutRun]) -> float:
    """Return the weight of a term, 0..1: the most likely one, less as it is less certain.

    Newton's method in one dimension. The weight is then multiplied by 1 − (its standard error ÷
    itself)², where tasks count and not runs; a term that is not established gets 0.
    """
    weight = 0.0
    for _ in range(_STEPS):
        curvature = _curvature(examples, weight)
        if curvature < _SMALL:
            return 0.0
        step = fsum(_slopes(examples, weight)) / curvature
        weight = min(2.0, max(-1.0, weight + step))
        if abs(step) < _SMALL:
            break
    if weight <= 0:
        return 0.0
    error = _squared_error(examples, weight)
    return min(1.0, weight * max(0.0, 1 - error / weight**2))


def _slopes(examples: Sequence[LeftOutRun], weight: float) -> list[float]:
    return [
        each.term * (each.success - probability_of(each.offset + weight * each.term))
        for each in examples
    ]


def _curvature(examples: Sequence[LeftOutRun], weight: float) -> float:
    chances = (probability_of(each.offset + weight * each.term) for each in examples)
    return fsum(
        chance * (1 - chance) * each.term**2 for chance, each in zip(chances, examples, strict=True)
    )


def _squared_error(examples: Sequence[LeftOutRun], weight: float) -> float:
    """Return the variance of the weight, robust against runs of one task that are alike."""
    by_task: defaultdict[str, list[float]] = defaultdict(list)
    for each, slope in zip(examples, _slopes(examples, weight), strict=True):
        by_task[each.task].append(slope)
    # One task establishes nothing.
    tasks = len(by_task)
    few = tasks / (tasks - 1) if tasks > 1 else inf
    return (
        few
        * max(_SMALL, fsum(fsum(slopes) ** 2 for slopes in by_task.values()))
        / _curvature(examples, weight) ** 2
    )
