"""Coerce single values to the wire's types where only one reading is possible."""

from datetime import datetime, timedelta
from decimal import Decimal
from math import isfinite
from typing import Final

from .remarks import Say

_MILLISECOND: Final = timedelta(milliseconds=1)


def plain(value: object) -> object:
    """Return the Python value of a number of another library, as NumPy's `item()` gives it."""
    if isinstance(value, (int, str, type(None))) or value.__class__ is float:
        return value
    if isinstance(value, float):
        return float(value)
    try:
        found = value.item()  # type: ignore[attr-defined]  # most have none
    except Exception:  # noqa: BLE001 - the agent's own objects may be of any making
        return value
    return found if isinstance(found, (int, float)) else value


def as_flag(value: object) -> object:
    """Return True or False for 1 and 0, and for another library's booleans."""
    value = plain(value)
    return bool(value) if isinstance(value, int) and value in (0, 1) else value


def as_text(value: object) -> object:
    """Return a whole number as text."""
    value = plain(value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def as_amount(value: object) -> object:
    """Return a number that was given as a decimal or as text."""
    value = plain(value)
    if isinstance(value, Decimal):
        # What is not a number would travel as null, and say that nothing was given.
        return float(value) if value.is_finite() else value
    if isinstance(value, str):
        return _number_in(value)
    return value


def as_count(name: str, value: object, say: Say) -> object:
    """Return a whole number; round one with a fraction, with a remark."""
    if isinstance(value, timedelta) and name == "duration_ms":
        value = value / _MILLISECOND
    value = as_amount(value)
    if not isinstance(value, float) or not isfinite(value):
        return value
    whole = round(value)
    if whole != value:
        say(f"rounded {name}", f"{name} is a whole number: a fraction is rounded")
    return whole


def as_moment(value: object, say: Say) -> object:
    """Return a moment with a time zone; take one without as local time, with a remark."""
    if isinstance(value, datetime) and value.tzinfo is None:
        say(
            "naive timestamp",
            "timestamp has no time zone and is taken as local time: "
            "give datetime.now(timezone.utc), or leave it out for now",
        )
        return value.astimezone()
    return float(value) if isinstance(value, Decimal) else plain(value)


def _number_in(text: str) -> object:
    try:
        number = int(text) if text.strip().isdecimal() else float(text)
    except ValueError:
        return text
    return number if isfinite(number) else text
