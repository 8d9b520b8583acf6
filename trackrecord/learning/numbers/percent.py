"""Percentages for people."""

from fractions import Fraction
from math import floor

from .tolerance import RATIO

_HALF = Fraction(1, 2)


def percent(part: float, whole: float) -> int:
    """The part in whole percent of the whole, half rounded up (5 of 8 is 63); 0 of nothing is 0.

    Computed exactly, so that no binary fraction decides; a decayed share that lies within the
    tolerance of ratios below a half is that half.
    """
    if whole <= 0:
        return 0
    return floor(100 * (Fraction(part) / Fraction(whole) + Fraction(RATIO)) + _HALF)
