"""Decay in SQL: what a row of the past weighs at a moment."""

from typing import Any

from sqlalchemy import case, func
from sqlalchemy.sql.elements import ColumnElement

from ..learning.decay import DAY

# Smaller powers of two are errors to PostgreSQL; this one is nothing to anybody.
_FAINTEST = -1000.0


def weight_at(ended_at: ColumnElement[Any], at: float, half_life_days: float) -> ColumnElement[Any]:
    """2^((ended_at − at)/half-life), for what had ended by then."""
    exponent = (ended_at - at) / (half_life_days * DAY)
    return func.power(2.0, case((exponent < _FAINTEST, _FAINTEST), else_=exponent))
