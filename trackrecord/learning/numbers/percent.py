"""Percentages for people."""

from fractions import Fraction
from math import floor

from .tolerance import RATIO

_HALF = Fraction(1, 2)
# Floats decide what lies further than this from a half.
_NEAR = 1e-6


def percent(part: float, whole: float) -> int:
    """Return a share in whole percent, half rounded up (5 of 8 gives 63); 0 of 0 gives 0.

    Computed exactly, so that no binary fraction decides; a decayed share that lies within the
    tolerance of ratios below a half counts as that half.
    """
    if whole <= 0:
        return 0
    rounded = 100 * part / whole + 0.5
    if rounded < 1 / _NEAR and _NEAR < rounded % 1 < 1 - _NEAR:
        return floor(rounded)
    return floor(100 * (Fraction(part) / Fraction(whole) + Fraction(RATIO)) + _HALF)
