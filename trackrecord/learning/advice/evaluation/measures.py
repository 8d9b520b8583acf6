"""Measures of recommendations, and how far each may be off."""

from collections import Counter
from collections.abc import Callable, Sequence
from math import fsum, sqrt
from random import Random
from typing import Final, NamedTuple

_RESAMPLES: Final = 200


class Figure(NamedTuple):
    """A measured number.

    Attributes:
        value: its mean.
        spread: the standard deviation over resampled tasks.
    """

    value: float
    spread: float


def over_tasks(
    tasks: Sequence[str], measure: Callable[[Counter[str]], float | None], random: Random
) -> Figure | None:
    """Return a measure of all tasks, and its standard deviation over resampled tasks.

    Args:
        tasks: the distinct tasks.
        measure: computes it, given how often each task counts; None where it is not defined.
        random: draws the tasks.
    """
    value = measure(Counter(tasks))
    if value is None:
        return None
    again = (measure(Counter(random.choices(tasks, k=len(tasks)))) for _ in range(_RESAMPLES))
    return Figure(value, _deviation([each for each in again if each is not None]))


def _deviation(values: Sequence[float]) -> float:
    if len(values) < 2:
        return 0.0
    mean = fsum(values) / len(values)
    return sqrt(fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
