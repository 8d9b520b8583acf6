"""The regularised incomplete beta function and its inverse: the intervals of rates.

Own code, because SciPy would be a hundred megabytes for two functions.
"""

from functools import lru_cache
from math import exp, lgamma, log, log1p, sqrt
from statistics import NormalDist
from typing import Final

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
