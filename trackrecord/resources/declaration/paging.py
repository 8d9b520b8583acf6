"""Lists in an order and in pages: what a list is sorted by, and where a page of it ended.

An order is written as the name of a key, `rate` for the smallest first, with a minus before it for
the largest first: `-last-seen`. A cursor is a text that the next page is asked for with.
"""

import base64
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final, Generic, TypeVar

import msgspec

from trackrecord.errors import InvalidCursor, InvalidRequest
from trackrecord.learning.text.spelling import closest

Entry = TypeVar("Entry")
Value = str | float | None
_Place = TypeVar("_Place", bound=tuple[Any, ...])
_MOST_CHARS: Final = 4096


@dataclass(frozen=True)
class Order:
    """An order that was asked for.

    Attributes:
        key: what is compared.
        is_descending: whether the largest comes first.
    """

    key: str
    is_descending: bool = False

    def __str__(self) -> str:
        return f"-{self.key}" if self.is_descending else self.key


@dataclass(frozen=True)
class Sorting(Generic[Entry]):
    """The keys that entries of one kind can be sorted by.

    Attributes:
        things: what the entries are called, in the plural.
        id_of: returns what decides between entries that are equal otherwise.
        keys: by name, what returns the value to be compared.
    """

    things: str
    id_of: Callable[[Entry], str]
    keys: Mapping[str, Callable[[Entry], Value]]

    def order(self, text: str) -> Order:
        """Return the order that a text such as `-last-seen` asks for; underscores are hyphens.

        Raises:
            InvalidRequest: there is no such key; the message names the nearest one, or all.
        """
        key = text.removeprefix("-").replace("_", "-")
        if key in self.keys:
            return Order(key, is_descending=text.startswith("-"))
        nearest = closest(key, self.keys)
        hint = f"the keys are {', '.join(self.keys)}"
        if nearest is not None:
            hint = f"did you mean {nearest!r}?"
        message = f"{self.things} cannot be sorted by {key!r}; {hint}"
        raise InvalidRequest(message)

    def sorted(self, entries: Iterable[Entry], order: Order | None) -> list[Entry]:
        """Return the entries in an order; as they come if none is asked for.

        Entries without a value come last in both directions, equal ones in the order of their ids.
        """
        found = list(entries)
        if order is None:
            return found
        value_of = self.keys[order.key]
        values = [(value_of(entry), entry) for entry in sorted(found, key=self.id_of)]
        # One key has values of one type.
        known = [pair for pair in values if pair[0] is not None]
        known.sort(key=lambda pair: pair[0], reverse=order.is_descending)  # type: ignore[arg-type,return-value]
        return [entry for _, entry in known] + [entry for value, entry in values if value is None]


def sorting_of(things: str, id_fields: str, **fields: str) -> Sorting[Any]:
    """Return the keys that answers can be sorted by.

    Args:
        things: what they are called, in the plural.
        id_fields: the fields that decide between answers that are equal otherwise, with blanks
            between their names.
        fields: by key, the field that is compared; an underscore in a key is a hyphen.
    """
    keys = {key.replace("_", "-"): attrgetter(field) for key, field in fields.items()}
    ids = [attrgetter(field) for field in id_fields.split()]
    if len(ids) == 1:
        return Sorting(things, ids[0], keys)
    return Sorting(things, lambda each: " ".join(str(of(each) or "") for of in ids), keys)


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
