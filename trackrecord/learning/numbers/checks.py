"""Conditions on the numbers of rules, checked once when the rules are built."""

import math
from typing import Annotated, Final, TypeVar

_T = TypeVar("_T")

INNER: Final = "inner"
Inner = Annotated[_T, INNER]


def require(holds: bool, message: str) -> None:
    """Raise ValueError with the message unless the condition holds."""
    if not holds:
        raise ValueError(message)


def require_ratio(name: str, value: float) -> None:
    """Require a ratio in 0..1."""
    require(0.0 <= value <= 1.0, f"{name} must lie in 0..1, not {value}")


def require_positive(name: str, value: float) -> None:
    """Require a positive, finite number."""
    require(math.isfinite(value) and value > 0, f"{name} must be above 0, not {value}")
