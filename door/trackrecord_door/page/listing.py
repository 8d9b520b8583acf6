"""Lists: sorted, searched and in pages, as the query of a page asks for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from trackrecord.calls.given import choice_of
from trackrecord.errors import InvalidCursor

from .asked import Asked

T = TypeVar("T")
ROWS: Final = 50


@dataclass(frozen=True)
class Listing(Generic[T]):
    """A page of a list.

    Attributes:
        rows: what this page shows.
        total: how many there are on all pages; None if nobody counted.
        first: the number of the first row, from 1 on.
        sort: the key that they are sorted by, with a "-" in front if downwards; None for the
            list's own order.
        before: the link to the page before; None if there is none.
        after: the link to the page after it; None if there is none.
    """

    rows: Sequence[T]
    total: int | None
    first: int = 1
    sort: str | None = None
    before: str | None = None
    after: str | None = None

    @property
    def last(self) -> int:
        """The number of the last row."""
        return self.first + len(self.rows) - 1


def listed(
    asked: Asked,
    items: Sequence[T],
    *,
    keys: Mapping[str, Callable[[T], Any]],
    text: Callable[[T], str],
    rows: int = ROWS,
) -> Listing[T]:
    """Return the page of a list that the query asks for: `q`, `sort` and `cursor`.

    Args:
        asked: the query.
        items: the whole list, in its own order.
        keys: what it can be sorted by: the name in the query, and the key of an item. Items whose
            key is None come last.
        text: the text of an item that `q` is looked for in, whatever its case.
        rows: how many a page has.

    Raises:
        InvalidRequest: it cannot be sorted so.
        InvalidCursor: no page begins there.
    """
    wanted = asked.text("q")
    found = [each for each in items if wanted is None or wanted.lower() in text(each).lower()]
    sort = asked.text("sort")
    if sort is not None:
        found = _sorted(found, sort, keys)
    start = _start(asked.text("cursor"))
    return Listing(
        found[start : start + rows],
        len(found),
        start + 1,
        sort,
        asked.here(cursor=max(0, start - rows) or None) if start else None,
        asked.here(cursor=start + rows) if start + rows < len(found) else None,
    )


def _sorted(items: list[T], sort: str, keys: Mapping[str, Callable[[T], Any]]) -> list[T]:
    key = keys[choice_of("sort", sort.removeprefix("-"), list(keys))]
    known = sorted(
        (each for each in items if key(each) is not None), key=key, reverse=sort.startswith("-")
    )
    return [*known, *(each for each in items if key(each) is None)]


def _start(cursor: str | None) -> int:
    most_digits = 9
    if cursor is None:
        return 0
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) <= most_digits):
        message = f"{cursor!r:.80} is not where a page begins; follow the links of the list"
        raise InvalidCursor(message)
    return int(cursor)
