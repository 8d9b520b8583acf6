"""The tolerances of comparing numbers.

Ratios and scores come from sums of floats, so that 0.7 may arrive as 0.6999999999999999. 1e-9 is
far above such errors, and far below any difference that means something.

Decayed counts shrink by the second: three reports that are seconds old must count as three. With a
half-life of 90 days three reports lose 0.01 in about ten hours.

Both are constants: larger ones would be rules of their own, and with smaller ones results would
depend on rounding.
"""

from typing import Final

RATIO: Final = 1e-9
COUNT: Final = 0.01


def ratio_at_least(value: float, threshold: float) -> bool:
    """Return whether a ratio or score is at least the threshold."""
    return value >= threshold - RATIO


def ratio_at_most(value: float, threshold: float) -> bool:
    """Return whether a ratio or score is at most the threshold."""
    return value <= threshold + RATIO


def ratio_above(value: float, threshold: float) -> bool:
    """Return whether a ratio or score is truly above the threshold."""
    return value > threshold + RATIO


def ratio_below(value: float, threshold: float) -> bool:
    """Return whether a ratio or score is truly below the threshold."""
    return value < threshold - RATIO


def count_at_least(value: float, threshold: float) -> bool:
    """Return whether a decayed count is at least the threshold."""
    return value >= threshold - COUNT
