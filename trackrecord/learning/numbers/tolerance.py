"""How exactly numbers are compared.

Ratios and scores come from sums of floats, so that 0.7 may arrive as 0.6999999999999999.
Decayed counts shrink by the second: three reports that are seconds old must count as three.

Each set of rules says how far its own comparisons tolerate that; these are the defaults.
"""

from .checks import require

RATIO = 1e-9
COUNT = 0.01

# From here on a tolerance is a rule of its own: 0.35 would count as above 0.3, two as three.
_MOST_RATIO = 0.05
_MOST_COUNT = 0.5


def require_ratio_tolerance(name: str, value: float) -> None:
    """A tolerance of ratios or scores is small."""
    require(0.0 <= value <= _MOST_RATIO, f"{name} must lie in 0..{_MOST_RATIO}, not {value}")


def require_count_tolerance(name: str, value: float) -> None:
    """A tolerance of decayed counts is small."""
    require(0.0 <= value <= _MOST_COUNT, f"{name} must lie in 0..{_MOST_COUNT}, not {value}")


def ratio_at_least(value: float, threshold: float, tolerance: float = RATIO) -> bool:
    """Whether a ratio or score is at least the threshold."""
    return value >= threshold - tolerance


def ratio_at_most(value: float, threshold: float, tolerance: float = RATIO) -> bool:
    """Whether a ratio or score is at most the threshold."""
    return value <= threshold + tolerance


def ratio_above(value: float, threshold: float, tolerance: float = RATIO) -> bool:
    """Whether a ratio or score is truly above the threshold."""
    return value > threshold + tolerance


def ratio_below(value: float, threshold: float, tolerance: float = RATIO) -> bool:
    """Whether a ratio or score is truly below the threshold."""
    return value < threshold - tolerance


def count_at_least(value: float, threshold: float, tolerance: float = COUNT) -> bool:
    """Whether a decayed count is at least the threshold."""
    return value >= threshold - tolerance
