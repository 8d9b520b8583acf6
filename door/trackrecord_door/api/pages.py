"""Lists in pages: each page begins after the last entry of the one before, wherever that is now."""

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from typing import Any, Final, NamedTuple

import msgspec

from trackrecord.errors import InvalidCursor
from trackrecord.resources.paging import cursor_of, place_of

from .endpoint import MOST_AT_ONCE, USUAL_LIMIT, Endpoint

_OTHER_LIST: Final = (
    "the cursor is that of another list; ask for each page with the parameters of the first one"
)


class _Place(NamedTuple):
    """The position where a page ended.

    Attributes:
        question: stands for the list.
        after: the cursor or the id of its last entry.
        position: how many entries of the list there were up to it.
    """

    question: str
    after: str
    position: int


class RequestedPage(NamedTuple):
    """The requested page of a list.

    Attributes:
        limit: the maximum number of entries.
        after: the cursor of the page before.
        sort: the order.
    """

    limit: int = USUAL_LIMIT
    after: str | None = None
    sort: str | None = None


def page_asked_for(given: Mapping[str, str]) -> RequestedPage:
    """Return the requested page.

    Raises:
        InvalidRequest: the limit is not a whole number within bounds.
    """
    from trackrecord.resources.checks import limit_of

    asked = RequestedPage(after=given.get("after"), sort=given.get("sort"))
    if (limit := given.get("limit")) is not None:
        is_number = limit.isascii() and limit.isdecimal() and len(limit) <= 9
        asked = asked._replace(
            limit=limit_of(int(limit) if is_number else limit, most=MOST_AT_ONCE)
        )
    return asked


def page_of(
    endpoint: Endpoint,
    call: Callable[..., Sequence[Any]],
    arguments: Mapping[str, Any],
    asked: RequestedPage,
) -> tuple[Sequence[Any], str | None]:
    """Return the entries of a page, and the cursor of the next one; None if it is the last.

    Args:
        endpoint: whose list.
        call: returns the list.
        arguments: of the call.
        asked: which page.

    Raises:
        InvalidCursor: the cursor is not one, or that of another list.
        InvalidRequest: the list cannot be sorted so.
    """
    assert endpoint.paging is not None  # noqa: S101 - it has pages
    sorting, question = endpoint.paging.sorting, _question(endpoint, arguments, asked)
    place = None if asked.after is None else place_of(asked.after, _Place)
    if place is not None and place.question != question:
        raise InvalidCursor(_OTHER_LIST)
    order = None if asked.sort is None or sorting is None else sorting.order(asked.sort)
    if endpoint.paging.by_call and (order is None or endpoint.paging.in_order):
        after = None if place is None else place.after
        ordered = {} if order is None else {"sort": str(order)}
        found = call(**arguments, **ordered, limit=asked.limit + 1, after=after)
        page = found[: asked.limit]
        if len(found) <= asked.limit:
            return page, None
        return page, cursor_of(_Place(question, page[-1].cursor, 0))
    found = call(**arguments, **({"limit": None} if endpoint.paging.by_call else {}))
    if sorting is None:
        return found, None
    found = sorting.sorted(found, order)
    start = 0 if place is None else _start(found, sorting.id_of, place)
    page = list(islice(found, start, start + asked.limit))
    end = start + len(page)
    if end >= len(found):
        return page, None
    return page, cursor_of(_Place(question, sorting.id_of(page[-1]), end))


def _start(found: Sequence[Any], id_of: Callable[[Any], str], place: _Place) -> int:
    """Return where the next page begins: after the last entry, or where that was."""
    ids = (id_of(each) for each in found)
    position = next((n for n, some_id in enumerate(ids, start=1) if some_id == place.after), None)
    return max(0, place.position - 1) if position is None else position


def _question(endpoint: Endpoint, arguments: Mapping[str, Any], asked: RequestedPage) -> str:
    """Return a text that is the same for each page of one list, and for no other list."""
    given = sorted((name, repr(value)) for name, value in arguments.items() if name != "service")
    said = msgspec.json.encode((endpoint.path, given, asked.sort))
    return blake2b(said, digest_size=8).hexdigest()
