"""How exactly numbers are compared.

Ratios and scores come from sums of floats, so that 0.7 may arrive as 0.6999999999999999.
Decayed counts shrink by the second: three reports that are seconds old must count as three.
"""

RATIO = 1e-9
COUNT = 0.01


def ratio_at_least(value: float, threshold: float) -> bool:
    """Whether a ratio or score is at least the threshold."""
    return value >= threshold - RATIO


def ratio_at_most(value: float, threshold: float) -> bool:
    """Whether a ratio or score is at most the threshold."""
    return value <= threshold + RATIO


def ratio_above(value: float, threshold: float) -> bool:
    """Whether a ratio or score is truly above the threshold."""
    return value > threshold + RATIO


def ratio_below(value: float, threshold: float) -> bool:
    """Whether a ratio or score is truly below the threshold."""
    return value < threshold - RATIO


def count_at_least(value: float, threshold: float) -> bool:
    """Whether a decayed count is at least the threshold."""
    return value >= threshold - COUNT
