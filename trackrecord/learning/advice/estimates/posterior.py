"""Posteriors: a rate of success with an interval, from decayed counts and a prior.

A Beta distribution. The prior is the rate that the level above leads one to expect, and weighs as
much as `PRIOR_STRENGTH` runs: 2 of 2 does not become 100%, and 0 of 1 does not become 0%.

The regularised incomplete beta function and its inverse: the intervals of rates.

Own code, because SciPy would be a hundred megabytes for two functions.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from math import exp, lgamma, log, log1p, sqrt
from statistics import NormalDist
from typing import Final

import msgspec

_MOST_TERMS: Final = 400
_ENOUGH: Final = 1e-12
_TINY: Final = 1e-300
_MOST_STEPS: Final = 80
# An interval is shown in whole percent.
_QUANTILE_ENOUGH: Final = 1e-7
_MOST_COUNTS: Final = 1e6
_LEAST_PARAMETER: Final = 1e-3


def beta_cdf(x: float, a: float, b: float) -> float:
    """Return the probability that a Beta(a, b) variable is at most x."""
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))
    # The fraction converges fast on this side of the mean.
    if x < (a + 1) / (a + b + 2):
        return min(1.0, front * _fraction(x, a, b) / a)
    return max(0.0, 1.0 - front * _fraction(1 - x, b, a) / b)


def _fraction(x: float, a: float, b: float) -> float:
    """Return Lentz's evaluation of the continued fraction (Numerical Recipes, section 6.4)."""
    c, d = 1.0, 1.0 / _away_from_0(1.0 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1.0 / _away_from_0(1.0 + even * d)
        c = _away_from_0(1.0 + even / c)
        value *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1.0 / _away_from_0(1.0 + odd * d)
        c = _away_from_0(1.0 + odd / c)
        value *= d * c
        if abs(d * c - 1.0) < _ENOUGH:
            break
    return value


def _away_from_0(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


@lru_cache(maxsize=8192)
def beta_quantile(share: float, a: float, b: float) -> float:
    """Return the x below which this share (0..1) of a Beta(a, b) distribution lies.

    Newton's steps where they stay between the bounds that are known, else a bisection.
    """
    too_many = (a + b) / _MOST_COUNTS
    if too_many > 1.0:  # it is narrower than can be shown, and the logarithms lose their digits
        a, b = max(a / too_many, _LEAST_PARAMETER), max(b / too_many, _LEAST_PARAMETER)
    low, high = 0.0, 1.0
    x = _near(share, a, b)
    for _ in range(_MOST_STEPS):
        error = beta_cdf(x, a, b) - share
        low, high = (x, high) if error < 0 else (low, x)
        following = _newton(x, error, a, b)
        if not low < following < high:
            following = (low + high) / 2
        if abs(following - x) < _QUANTILE_ENOUGH:
            return following
        x = following
    return x


def _near(share: float, a: float, b: float) -> float:
    """Return a first guess: the log odds are nearly normal where both parameters are not small."""
    if min(a, b) < 1.0:
        return a / (a + b)
    odds = log(a / b) + NormalDist().inv_cdf(share) * sqrt(1 / a + 1 / b)
    return 1.0 / (1.0 + exp(-odds))


def _newton(x: float, error: float, a: float, b: float) -> float:
    """Return Newton's next x; -1 where the density is out of range."""
    if not 0.0 < x < 1.0:
        return -1.0
    height = lgamma(a + b) - lgamma(a) - lgamma(b) + (a - 1) * log(x) + (b - 1) * log1p(-x)
    if not -600.0 < height < 600.0:
        return -1.0
    return x - error / exp(height)


# A prior weighs as much as this number of runs.
PRIOR_STRENGTH: Final = 3.0
# An interval holds the rate with this probability.
COVERAGE: Final = 0.9
# In an order, no prior is better than this, so that 2 of 2 stands behind 9 of 10 whatever the
# project's rate is: that takes a prior below (7m - 2) / 8m = 0.79 for the strength m = 3.
_BEST_PRIOR_IN_ORDER: Final = 0.75
# The parameters of a distribution are never 0, however certain its prior is.


class DecayedTally(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Runs and their successes, counted and decayed.

    Attributes:
        runs: how many runs there were.
        successes: how many of them succeeded.
        decayed_runs: the runs, each weighed by its age.
        decayed_successes: the successes, each weighed by its age.
        tasks: how many distinct tasks the runs were of.
    """

    runs: int = 0
    successes: int = 0
    decayed_runs: float = 0.0
    decayed_successes: float = 0.0
    tasks: int = 0

    def without(self, part: "DecayedTally") -> "DecayedTally":
        """Return the evidence without a part of it, apart from its tasks."""
        runs = max(0.0, self.decayed_runs - part.decayed_runs)
        return DecayedTally(
            self.runs - part.runs,
            self.successes - part.successes,
            runs,
            min(runs, max(0.0, self.decayed_successes - part.decayed_successes)),
        )


@dataclass(slots=True)
class TallySum:
    """The sums that a tally is made of; see `DecayedTally`."""

    runs: int = 0
    successes: int = 0
    decayed_runs: float = 0.0
    decayed_successes: float = 0.0
    tasks: set[str] = field(default_factory=set)

    def add(self, task: str, weight: float, success: bool) -> None:
        """Count one run."""
        self.runs += 1
        self.successes += success
        self.decayed_runs += weight
        self.decayed_successes += weight * success
        self.tasks.add(task)

    def tally(self) -> DecayedTally:
        """Return the counts."""
        return DecayedTally(
            self.runs, self.successes, self.decayed_runs, self.decayed_successes, len(self.tasks)
        )


@dataclass(frozen=True, slots=True)
class Posterior:
    """A Beta distribution of a rate.

    Attributes:
        a: decayed successes with the prior's, above 0.
        b: decayed failures with the prior's, above 0.
    """

    a: float
    b: float

    @property
    def mean(self) -> float:
        """The expected rate."""
        return self.a / (self.a + self.b)

    @property
    def interval(self) -> tuple[float, float]:
        """The bounds between which the rate lies with a probability of `COVERAGE`."""
        return self.bounds(COVERAGE)

    def bounds(self, coverage: float) -> tuple[float, float]:
        """Return the central interval with this probability, which always holds the mean."""
        tail = (1.0 - coverage) / 2
        mean = self.mean
        # The mean of a very skewed distribution lies outside its central interval.
        return (
            min(mean, beta_quantile(tail, self.a, self.b)),
            max(mean, beta_quantile(1.0 - tail, self.a, self.b)),
        )


def posterior_of(tally: DecayedTally, prior: float, strength: float = PRIOR_STRENGTH) -> Posterior:
    """Return the posterior of a rate.

    Args:
        tally: what was seen.
        prior: the rate that is expected without it, 0..1.
        strength: how many runs the prior weighs as much as.
    """
    failures = max(0.0, tally.decayed_runs - tally.decayed_successes)
    return Posterior(
        max(_LEAST_PARAMETER, tally.decayed_successes + strength * prior),
        max(_LEAST_PARAMETER, failures + strength * (1.0 - prior)),
    )


def base_rate(total: DecayedTally) -> float:
    """Return a project's rate of success, never 0 or 1: (successes + ½) ÷ (runs + 1)."""
    return (total.decayed_successes + 0.5) / (total.decayed_runs + 1.0)


def cautious_mean(tally: DecayedTally, prior: float) -> float:
    """Return the rate by which things are put in order: few runs never lead.

    It is the posterior's mean with a prior that is no better than the one with which 2 of 2 would
    overtake 9 of 10.
    """
    return posterior_of(tally, min(prior, _BEST_PRIOR_IN_ORDER)).mean
