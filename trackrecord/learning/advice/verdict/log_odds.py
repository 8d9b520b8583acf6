"""Log odds, and fitting the weight of one term."""

from collections import defaultdict
from collections.abc import Sequence
from math import exp, fsum, inf, log
from typing import Final, NamedTuple

# Nothing that was counted is certain.
_LEAST: Final = 1e-3
_STEPS: Final = 25
_SMALL: Final = 1e-9
# A term that is counted from so many tasks is expected to deserve half of its weight.
_HALF_TRUSTED: Final = 10.0


class LeftOutRun(NamedTuple):
    """A prediction of a run that was left out, and its actual outcome.

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


class Prior(NamedTuple):
    """The expected value of a weight before fitting.

    Attributes:
        mean: the expected weight, where there are many tasks to count the term from.
        spread: its standard deviation.
    """

    mean: float
    spread: float


# Of this little is expected: only examples give it a weight.
NOTHING: Final = Prior(0.0, 0.3)


def fitted_weight(examples: Sequence[LeftOutRun], prior: Prior) -> float:
    """Return the weight of a term, 0..1: between the most likely one and the expected one.

    The most likely one is found by Newton's method in one dimension. Both are weighed by their
    precision, where tasks count and not runs: with few examples the expected weight stands, less
    as the term itself is counted from few tasks.
    """
    tasks = len({each.task for each in examples})
    mean = prior.mean * tasks / (tasks + _HALF_TRUSTED)
    weight = _likely_weight(examples)
    if weight is None:
        return mean
    own, expected = 1.0 / _squared_error(examples, weight), 1.0 / prior.spread**2
    return min(1.0, max(0.0, (own * weight + expected * mean) / (own + expected)))


def _likely_weight(examples: Sequence[LeftOutRun]) -> float | None:
    weight = 0.0
    for _ in range(_STEPS):
        curvature = _curvature(examples, weight)
        if curvature < _SMALL:
            return None
        step = fsum(_slopes(examples, weight)) / curvature
        weight = min(2.0, max(-1.0, weight + step))
        if abs(step) < _SMALL:
            break
    return weight


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
