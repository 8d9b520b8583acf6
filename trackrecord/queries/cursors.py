"""Cursors: where a page of a list ended, as a text that the next page is asked for with."""

import base64
from typing import Any, Final, TypeVar

import msgspec

from trackrecord.errors import InvalidCursor

_Place = TypeVar("_Place", bound=tuple[Any, ...])
_MOST_CHARS: Final = 4096


def cursor_of(place: tuple[Any, ...]) -> str:
    """Return the cursor for the place of the last entry of a page."""
    return base64.urlsafe_b64encode(msgspec.json.encode(place)).decode().rstrip("=")


def place_of(cursor: str, kind: type[_Place]) -> _Place:
    """Return the place that a cursor stands for.

    Args:
        cursor: as a page was answered with.
        kind: a named tuple; its fields are checked.

    Raises:
        InvalidCursor: no page of such a list was answered with it.
    """
    place: _Place | None
    try:
        if len(cursor) > _MOST_CHARS:
            raise ValueError(cursor)
        padded = cursor.encode() + b"=" * (-len(cursor) % 4)
        place = msgspec.json.decode(base64.urlsafe_b64decode(padded), type=kind)
    except (ValueError, msgspec.MsgspecError):
        place = None
    if place is None or any(isinstance(part, str) and "\0" in part for part in place):
        message = "the cursor is not that of a page; take it from the answer before, unchanged"
        raise InvalidCursor(message)
    return place
