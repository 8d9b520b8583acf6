"""The routes of the HTTP API, one for each path of the table of endpoints.

A new endpoint is a row of `endpoint_table`, which says what else it needs; nothing changes here.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from trackrecord_door.protocol.bodies import Bodies
from trackrecord_door.query_service import QueryService

from ..protocol.answers import API, JSON, RequestRefused
from ..protocol.callers import Permission, caller_of, check_permitted

_OUTCOMES: Final = f"{API}/outcomes"

Answer = Callable[[Request], Awaitable[Response]]


def routes(service: QueryService, bodies: Bodies) -> list[BaseRoute]:
    """Return the routes.

    Args:
        service: where questions are asked.
        bodies: reads what is posted.
    """
    return [
        Route(_OUTCOMES, _Later(_reporting, service, bodies)),
        Mount(API, _Later(_asking, service, bodies)),
    ]


class _Later:
    """An application that is built on first use: many servers never need it.

    Args:
        build: builds it.
        service: where questions are asked.
        bodies: reads what is posted.
    """

    def __init__(
        self,
        build: Callable[[QueryService, Bodies], ASGIApp],
        service: QueryService,
        bodies: Bodies,
    ) -> None:
        self._build = build
        self._floor = service
        self._bodies = bodies
        self._app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._app is None:
            # Twice at the same time does no harm.
            self._app = await self._floor.run(self._build, self._floor, self._bodies)
        await self._app(scope, receive, send)


class _Path:
    """Answers the requests to one path, of every method.

    Args:
        answers: by method.
    """

    def __init__(self, answers: Mapping[str, Answer]) -> None:
        self._answers = answers
        also_head = {"HEAD"} if "GET" in answers else set()
        self._allowed = ", ".join(sorted({*answers, *also_head}))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive, send)
        method = "GET" if request.method == "HEAD" else request.method
        answer = self._answers.get(method)
        if answer is None:
            message = f"{request.method} is not supported here; use {self._allowed}"
            raise RequestRefused(405, message, {"Allow": self._allowed})
        response = await answer(request)
        await response(scope, receive, send)


def _reporting(service: QueryService, bodies: Bodies) -> ASGIApp:
    """Build what takes outcomes: without the table of endpoints, which imports all of the store."""
    from .outcomes import OutcomeIntake

    return _Path({"POST": OutcomeIntake(service, bodies)})


def _asking(service: QueryService, bodies: Bodies) -> ASGIApp:
    """Build what answers questions and takes decisions."""
    from .answering import Answerer
    from .endpoint_table import ENDPOINTS

    async def openapi(request: Request) -> Response:
        check_permitted(request, Permission.READ, caller_of(request).project)
        return Response(await service.run(_openapi), media_type=JSON)

    answers: dict[str, dict[str, Answer]] = defaultdict(dict)
    answers["/openapi.json"]["GET"] = openapi
    for each in ENDPOINTS:
        answers[each.path][each.method] = Answerer(each, service, bodies)
    paths = sorted(answers, key=_last_if_open)
    return Router([Route(path, _Path(answers[path])) for path in paths], redirect_slashes=False)


def _openapi() -> bytes:
    from .openapi import encoded_document

    return encoded_document()


def _last_if_open(path: str) -> tuple[bool, bool, int]:
    """Return what sorts a path behind those that it would match as well."""
    return path.endswith(":path}"), path.endswith("}"), -len(path)
