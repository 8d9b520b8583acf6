"""Attribute values as texts, numbers and documents, for all types that exporters send."""

import ast
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from trackrecord.wire.storable import decoded

_TRUE: Final = frozenset({"true", "1", "yes"})
_FALSE: Final = frozenset({"false", "0", "no"})
# Integers beyond 2^53 do not survive JSON in most languages, nor does the wire format take them.
LARGEST_COUNT: Final = 2**53
_LARGEST_CODE: Final = 2**32
# The year 2000, before which nothing was traced, and the most that 64 bits hold.
_FIRST_NS: Final = 946_684_800 * 10**9
_LAST_NS: Final = 2**64
# `ast` takes memory and time by the square of odd inputs, and no call's arguments are this long.
_LONGEST_LITERAL: Final = 16 * 1024


def first_text(attributes: Mapping[str, Any], names: Sequence[str]) -> str:
    """Return the first of these attributes that holds anything, as a text; "" without one."""
    for name in names:
        value = attributes.get(name)
        if value is not None and value != "":
            return as_text(value)
    return ""


def first_number(attributes: Mapping[str, Any], names: Sequence[str]) -> float | None:
    """Return the first of these attributes that is a number, or a text that holds one."""
    for name in names:
        number = as_number(attributes.get(name))
        if number is not None:
            return number
    return None


def first_count(attributes: Mapping[str, Any], names: Sequence[str]) -> int | None:
    """Return the first of these attributes that is a number, if it can count anything."""
    number = first_number(attributes, names)
    return int(number) if number is not None and 0 <= number <= LARGEST_COUNT else None


def as_exit_code(value: object) -> int | None:
    """Return an exit status of any system; None for anything else."""
    number = as_number(value)
    if number is None or number != int(number) or abs(number) > _LARGEST_CODE:
        return None
    return int(number)


def as_text(value: object) -> str:
    """Return a value as a text: JSON, unless it is one already."""
    if isinstance(value, str):
        return value
    try:
        return msgspec.json.encode(value).decode()
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError):
        return str(value)


def as_number(value: object) -> float | None:
    """Return a finite number, also from a text; None for anything else, booleans included."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def seconds_of(nanoseconds: int) -> float:
    """Return a moment in seconds since the epoch; 0 if the clock was not set or is nonsense."""
    return nanoseconds / 1e9 if _FIRST_NS <= nanoseconds <= _LAST_NS else 0.0


def as_flag(value: object) -> bool | None:
    """Return a truth value, also from a text or from 0 and 1; None for anything else."""
    if isinstance(value, bool):
        return value
    word = as_text(value).strip().lower() if value is not None else ""
    if word in _TRUE:
        return True
    return False if word in _FALSE else None


def document(text: str) -> Any:  # noqa: ANN401 - a document of any shape
    """Return a text decoded as JSON or as a Python literal, or else the text itself."""
    start = text.lstrip()[:1]
    if not start or start not in '{["':
        return text
    try:
        return decoded(text)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return _literal(text)


def _literal(text: str) -> Any:  # noqa: ANN401 - as above
    """Return a Python literal, as some exporters write dictionaries with `str`."""
    if len(text) > _LONGEST_LITERAL:
        return text
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
