"""Lists: sorted, searched and in pages, by the query of a page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from trackrecord.errors import InvalidCursor
from trackrecord.resources.declaration.paging import Sorting

from .page_request import PageRequest

T = TypeVar("T")
ROWS: Final = 50


@dataclass(frozen=True)
class Listing(Generic[T]):
    """A page of a list.

    Attributes:
        rows: what this page shows.
        total: how many there are on all pages.
        first: the number of the first row, from 1 on.
        sort: the key that they are sorted by, with a "-" in front if downwards; None for the
            list's own order.
        before: the link to the page before; None if there is none.
        after: the link to the page after it; None if there is none.
    """

    rows: Sequence[T]
    total: int
    first: int = 1
    sort: str | None = None
    before: str | None = None
    after: str | None = None

    @property
    def last(self) -> int:
        """The number of the last row."""
        return self.first + len(self.rows) - 1


def listed(
    asked: PageRequest,
    items: Sequence[T],
    *,
    keys: Mapping[str, Callable[[T], Any]],
    text: Callable[[T], str],
    search: bool = True,
) -> Listing[T]:
    """Return the requested page of a list, by `q`, `sort` and `cursor`.

    Args:
        asked: the query.
        items: the whole list, in its own order.
        keys: what it can be sorted by, by name: those of a `Sorting`.
        text: the text of an item that `q` is looked for in, whatever its case; of items that are
            equal otherwise it decides which comes first.
        search: whether `q` is looked for here, and not where the list comes from.

    Raises:
        InvalidRequest: it cannot be sorted so.
        InvalidCursor: no page begins there.
    """
    wanted = asked.text("q") if search else None
    found = list(items)
    if wanted is not None:
        found = [each for each in items if wanted.casefold() in text(each).casefold()]
    sort = asked.text("sort")
    if sort is not None:
        sorting = Sorting("rows", text, keys)
        found = sorting.sorted(found, sorting.order(sort))
    start = start_of(asked)
    return page_of(asked, found[start : start + ROWS], len(found))


def page_of(asked: PageRequest, entries: Sequence[T], total: int) -> Listing[T]:
    """Return the page of a list that the database sorts and cuts: it begins at `start_of`.

    Args:
        asked: the query.
        entries: what the page shows.
        total: how many there are on all pages.

    Raises:
        InvalidCursor: no page begins there.
    """
    start = start_of(asked)
    return Listing(
        entries,
        total,
        start + 1,
        asked.text("sort"),
        asked.link_with(cursor=max(0, start - ROWS) or None) if start else None,
        asked.link_with(cursor=start + ROWS) if start + ROWS < total else None,
    )


def start_of(asked: PageRequest) -> int:
    """Return the number of items before the page that the query asks for.

    Raises:
        InvalidCursor: no page begins there.
    """
    most_digits = 9
    cursor = asked.text("cursor")
    if cursor is None:
        return 0
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) <= most_digits):
        message = f"{cursor!r:.80} is not where a page begins; follow the links of the list"
        raise InvalidCursor(message)
    return int(cursor)
