"""Chance: intervals, and what chance alone would show.

Calls of one task are alike, so shares are counted over tasks and differences by task.
"""

from collections.abc import Iterable, Sequence
from math import erfc, log1p, sqrt

from ...numbers.wilson import wilson_interval


def share_interval(part: int, whole: int) -> tuple[float, float]:
    """Return Wilson's 95% interval of a share; 0..1 for nothing of nothing."""
    return wilson_interval(part, whole - part)


def two_sided(z: float) -> float:
    """Return how probable a normal deviate at least this far from zero is."""
    return erfc(abs(z) / sqrt(2))


def as_normal(t: float, freedom: int) -> float:
    """Return the normal deviate that is as improbable as this deviate of Student's t.

    Wallace (1959), "Bounds on normal approximations to Student's and the chi-square distributions".
    """
    if freedom < 1:
        return 0.0
    size = sqrt(freedom * log1p(t * t / freedom)) * (8 * freedom + 1) / (8 * freedom + 3)
    return size if t >= 0 else -size


def discoveries(probabilities: Sequence[float], *, level: float, tests: int) -> list[int]:
    """Return the positions of the findings that are more than chance (Benjamini-Hochberg).

    Args:
        probabilities: how probable each is by chance alone.
        level: the share of false findings to expect among all at most.
        tests: how many were tried, with those that are not among the probabilities.
    """
    ordered = sorted((each, place) for place, each in enumerate(probabilities))
    found = 0
    for rank, (each, _) in enumerate(ordered, start=1):
        if each <= level * rank / tests:
            found = rank
    return sorted(place for _, place in ordered[:found])


def clustered_difference(
    clusters: Iterable[tuple[int, int, int, int]],
) -> tuple[float, float, int]:
    """Return the difference of two shares, its standard error, and the number of clusters.

    The error is that of clusters that are drawn as a whole, and never smaller than that of single
    calls.

    Args:
        clusters: for each, calls and hits of the first arm, calls and hits of the second one.
    """
    rows = list(clusters)
    first, first_hits, second, second_hits = (sum(column) for column in zip(*rows, strict=True))
    pooled = (first_hits + second_hits) / (first + second)
    between = sum(
        ((fh - pooled * f) / first - (sh - pooled * s) / second) ** 2 for f, fh, s, sh in rows
    )
    single = pooled * (1 - pooled) * (1 / first + 1 / second)
    count = len(rows)
    error = sqrt(max(between * count / max(1, count - 1), single))
    return first_hits / first - second_hits / second, error, count
