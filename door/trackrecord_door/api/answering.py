"""Answers a request by an endpoint: permission, arguments, the call, and the answer as JSON."""

from collections.abc import Callable, Collection, Mapping, Sequence
from hashlib import blake2b
from inspect import signature
from itertools import islice
from typing import Any, Final, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from trackrecord.errors import InvalidCursor, UnknownProject
from trackrecord.resources.access.redis_server import redis_explained
from trackrecord.resources.declaration.checks import limit_of
from trackrecord.resources.declaration.paging import cursor_of, place_of
from trackrecord.resources.declaration.resource import RestsOn, may_lack

from ..protocol.answers import JSON
from ..protocol.bodies import Bodies, content_encoding, decompressed
from ..protocol.callers import Caller, caller_of, check_permitted
from ..query_service import QueryService
from .endpoint import MOST_AT_ONCE, USUAL_LIMIT, Endpoint
from .reading import Reader, checked_project_of, path_arguments

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


_NOT_MODIFIED: Final = 304
# A cache may keep an answer, and has to ask each time whether it still holds.
_CACHING: Final = "private, no-cache"


class Answerer:
    """Answers requests to one endpoint.

    Args:
        endpoint: what is asked.
        service: where it is asked.
        bodies: reads what was posted.
    """

    def __init__(self, endpoint: Endpoint, service: QueryService, bodies: Bodies) -> None:
        self._endpoint = endpoint
        self._floor = service
        self._bodies = bodies
        self._reader = Reader(endpoint)
        self._in_thread = service.ask if endpoint.needs_store else service.run
        self._takes = {*signature(endpoint.call).parameters} & {"service", "caller", "project"}
        signed = endpoint.parameters.get("by")
        self._is_signed = signed is not None and signed.place == "body"

    async def __call__(self, request: Request) -> Response:
        """Answer a request.

        Raises:
            RequestRefused: the caller may not, or the request is malformed.
            TrackrecordError: the call refuses what is asked, or a server is away.
        """
        caller = caller_of(request)
        project = self._project(request, caller)
        check_permitted(request, self._endpoint.permission, project)
        arguments, common = self._reader.query(request)
        arguments |= path_arguments(request)
        if self._endpoint.method == "POST":
            arguments |= await self._posted(request)
        arguments |= self._own(caller, project, arguments)
        asked = page_asked_for(common)
        try:
            body, tag = await self._in_thread(self._answer, arguments, asked)
        except UnknownProject as error:
            if caller.project is None:
                raise
            # The message names the nearest project, which is somebody else's.
            raise UnknownProject(error.project, nearest=None, count=1) from None
        if self._endpoint.method == "POST":
            return Response(body, self._endpoint.status, media_type=JSON)
        headers = {"ETag": tag, "Cache-Control": _CACHING}
        if _has(request.headers.get("if-none-match", ""), tag):
            return Response(status_code=_NOT_MODIFIED, headers=headers)
        return Response(body, self._endpoint.status, headers, JSON)

    def _project(self, request: Request, caller: Caller) -> str | None:
        """Return the project of a request; None for all of them."""
        named = request.query_params.get("project")
        if named is not None:
            return checked_project_of(named)
        if caller.project is not None or self._endpoint.scope != "project":
            return caller.project
        return self._floor.settings.project

    async def _posted(self, request: Request) -> dict[str, Any]:
        encoding = content_encoding(request)
        async with self._bodies.of(request) as data:
            return self._reader.body(request, decompressed(data, encoding, self._bodies.max_bytes))

    def _own(
        self, caller: Caller, project: str | None, arguments: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the arguments that are not the caller's to give."""
        own: dict[str, Any] = {}
        if "project" in self._takes:
            own["project"] = project
        if "service" in self._takes:
            own["service"] = self._floor
        if "caller" in self._takes:
            own["caller"] = caller
        if self._is_signed and arguments.get("by") is None and caller.name is not None:
            own["by"] = caller.name
        if isinstance(given := arguments.get("conditions"), list):
            own["conditions"] = dict(each.split("=", 1) for each in given)
        return own

    def _answer(self, arguments: Mapping[str, Any], asked: RequestedPage) -> tuple[bytes, str]:
        """Make the call on a thread beside the event loop; return the answer and its tag."""
        with redis_explained(self._floor.settings):
            return _encoded(self._document(arguments, asked), self._endpoint.volatile)

    def _document(self, arguments: Mapping[str, Any], asked: RequestedPage) -> Mapping[str, Any]:
        endpoint = self._endpoint
        is_whole = True
        if endpoint.paging is not None:
            found, cursor = page_of(endpoint, endpoint.call, arguments, asked)
            is_whole = cursor is None or asked.sort is not None
            document = {"items": [*map(endpoint.document, found)], "cursor": cursor}
        elif endpoint.is_list:
            items = [*map(endpoint.document, endpoint.call(**arguments))]
            document = {"items": items, "cursor": None}
        else:
            document = dict(endpoint.document(endpoint.call(**arguments)))
            is_whole = document.get("cursor") is None
        needed = may_lack(endpoint.rests_on, arguments, is_whole=is_whole)
        removed = self._removed(arguments, needed) if needed else ""
        return document | {"removed": removed} if removed else document

    def _removed(self, arguments: Mapping[str, Any], needed: Collection[RestsOn]) -> str:
        """Return what the answer lacks because retention has removed it."""
        from trackrecord.resources.access.removed import removed_from_answer
        from trackrecord.store.database.engine import reading

        with reading(self._floor.engine) as connection:
            return removed_from_answer(connection, arguments["project"], needed, arguments)


def _encoded(document: Mapping[str, Any], volatile: tuple[str, ...]) -> tuple[bytes, str]:
    """Return a document as JSON, and a tag that ignores volatile parts."""
    if not volatile:
        body = msgspec.json.encode(document)
        return body, _tag(body)
    lasting = msgspec.json.encode({k: v for k, v in document.items() if k not in volatile})
    rest = msgspec.json.encode({k: v for k, v in document.items() if k in volatile})
    return lasting[:-1] + b"," + rest[1:], _tag(lasting)


def _tag(body: bytes) -> str:
    return f'W/"{blake2b(body, digest_size=12).hexdigest()}"'


def _has(given: str, tag: str) -> bool:
    """Return whether an `If-None-Match` names an answer."""
    names = {each.strip().removeprefix("W/") for each in given.split(",")}
    return "*" in names or tag.removeprefix("W/") in names
