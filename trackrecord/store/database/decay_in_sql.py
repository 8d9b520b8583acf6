"""Decay in SQL: the weight of a past row at a moment."""

from typing import Any

from sqlalchemy import case, func
from sqlalchemy.sql.elements import ColumnElement

from trackrecord.learning.numbers.decay import DAY

# After a thousand half-lives nothing is left. PostgreSQL takes a power that is too small for a
# float for an error.
_NOTHING_LEFT = -1000.0


def weight_at(
    ended_at: ColumnElement[Any], at: float | ColumnElement[Any], half_life_days: float
) -> ColumnElement[Any]:
    """Return 2^((ended_at − at)/half-life), for evidence that had ended by then."""
    half_lives = (ended_at - at) / (half_life_days * DAY)
    return case((half_lives < _NOTHING_LEFT, 0.0), else_=func.power(2.0, half_lives))
