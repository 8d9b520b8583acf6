"""Chance: intervals, and what chance alone would show.

Calls of one task are alike, so shares are counted over tasks and differences by task.
"""

from collections.abc import Iterable, Sequence
from math import erfc, exp, lgamma, log1p, sqrt
from typing import Final, NamedTuple

from ...numbers.wilson import wilson_interval

# What is less probable than this does not move the sum of probabilities.
_NEGLIGIBLE: Final = 1e-15


class Stratum(NamedTuple):
    """Runs that can be compared.

    Attributes:
        runs: how many.
        successes: how many of them succeeded.
        labelled: how many have the label.
        won: how many of these succeeded.
    """

    runs: int
    successes: int
    labelled: int
    won: int


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


def chance_of(strata: Iterable[Stratum]) -> float:
    """Return how probable at least as many successes are if the label makes no difference."""
    first, weights = 0, [1.0]
    won = 0
    for stratum in strata:
        won += stratum.won
        least, more = _hypergeometric(stratum)
        first, weights = _convolved(first + least, weights, more)
    return min(1.0, sum(weights[max(0, won - first) :]))


def _hypergeometric(stratum: Stratum) -> tuple[int, list[float]]:
    """Return the least number of successes with the label, and the probabilities from there on."""
    runs, successes, labelled, _ = stratum
    least, most = max(0, labelled + successes - runs), min(labelled, successes)
    whole = _log_ways(runs, labelled)
    return least, [
        exp(_log_ways(successes, won) + _log_ways(runs - successes, labelled - won) - whole)
        for won in range(least, most + 1)
    ]


def _log_ways(of: int, some: int) -> float:
    return lgamma(of + 1) - lgamma(some + 1) - lgamma(of - some + 1)


def _convolved(
    first: int, weights: Sequence[float], more: Sequence[float]
) -> tuple[int, list[float]]:
    """Return the probabilities of a sum from its first possible number on, without tiny tails."""
    found = [0.0] * (len(weights) + len(more) - 1)
    for place, weight in enumerate(weights):
        for further, other in enumerate(more):
            found[place + further] += weight * other
    start, end = 0, len(found)
    while found[start] < _NEGLIGIBLE and start < end - 1:
        start += 1
    while found[end - 1] < _NEGLIGIBLE and end - 1 > start:
        end -= 1
    return first + start, found[start:end]


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


def weighted_difference(strata: Iterable[Stratum]) -> tuple[float, float]:
    """Return the difference that a label makes within strata (Mantel-Haenszel), and its error."""
    rows = list(strata)
    weight = excess = variance = 0.0
    for n, s, k, a in rows:
        weight += k * (n - k) / n
        excess += a - k * s / n
        variance += k * (n - k) * s * (n - s) / (n * n * (n - 1))
    effect = excess / weight
    spread = sum((a - k * s / n - effect * k * (n - k) / n) ** 2 for n, s, k, a in rows)
    between = spread * len(rows) / max(1, len(rows) - 1)
    return effect, sqrt(max(between, variance)) / weight
