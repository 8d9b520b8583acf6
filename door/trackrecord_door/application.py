"""The application: all routes of the front door, behind the checks of who may use it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Final

import structlog
from starlette.applications import Starlette
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from trackrecord.errors import TrackrecordError
from trackrecord.settings.daemon_settings import HttpSettings

from .access.access import Access
from .access.sessions import Sessions
from .access.tokens import Tokens
from .api import routes as api_routes
from .ingest.intake import Intake
from .ingest.otlp_routes import IngestRoutes
from .mcp_server.routes import McpRoutes
from .metrics import routes as metrics_routes
from .metrics.routes import CountRequests, Requests
from .page.handling import Pages, error_answer
from .protocol.answers import API, RequestRefused, is_of_api, refused, status_of
from .protocol.bodies import Bodies
from .query_service import QueryService

_log = structlog.get_logger(__name__)


class _AnyText(PathConvertor):
    """The rest of a path, as agents name runs freely: also with line ends, unlike `.*`."""

    regex = r"(?s:.*)"


register_url_convertor("path", _AnyText())


# Of the body of a request, compressed and decompressed.
_MOST_BYTES: Final = 20 * 1024 * 1024
_RETRY_AFTER: Final = {"Retry-After": "5"}


def create_app(settings: HttpSettings, intake: Intake, service: QueryService) -> Starlette:
    """Build the application.

    Args:
        settings: who may use it.
        intake: takes what was posted; closed when the application ends.
        service: answers questions; closed when the application ends.
    """
    bodies = Bodies(_MOST_BYTES)
    tokens = Tokens(service)
    sessions = Sessions(service.settings.home)
    requests = Requests()
    mcp = McpRoutes(service)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        warming = asyncio.create_task(mcp.warm_up())
        yield
        warming.cancel()
        intake.close()
        tokens.close()
        service.close()

    return Starlette(
        routes=[
            *sessions.routes(),
            *IngestRoutes(intake, bodies).routes(),
            *api_routes.routes(service, bodies),
            *mcp.routes(),
            *metrics_routes.routes(service, intake.captured, requests),
            # Last: every path that is none of the others' is the page's.
            *Pages(service).routes(),
        ],
        middleware=[
            Middleware(CountRequests, requests=requests),
            Middleware(
                Access, settings=settings, tokens=tokens, sessions=sessions, answer=_refusal
            ),
        ],
        exception_handlers={
            RequestRefused: _refuse,
            HTTPException: _refuse_http,
            ClientDisconnect: _nobody_reads,
            TrackrecordError: _explain,
            OSError: _away,
            Exception: _failed,
        },
        lifespan=lifespan,
    )


def _refusal(request: Request, refusal: RequestRefused) -> Response:
    """Answer a browser with a page, and programs in their own format."""
    if "text/html" in request.headers.get("accept", ""):
        return error_answer(request, refusal)
    return refused(request, refusal)


def _answer(request: Request, refusal: RequestRefused) -> Response:
    """Answer what a route has refused: of the HTTP API always as a problem."""
    return refused(request, refusal) if is_of_api(request) else _refusal(request, refusal)


async def _refuse(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestRefused)  # noqa: S101 - registered for it
    return _answer(request, error)


async def _refuse_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for it
    detail = error.detail
    if is_of_api(request) and error.status_code == HTTPStatus.NOT_FOUND:
        detail = f"there is no such path; see {API}/openapi.json"
    return _answer(request, RequestRefused(error.status_code, detail, error.headers or {}))


async def _explain(request: Request, error: Exception) -> Response:
    assert isinstance(error, TrackrecordError)  # noqa: S101 - registered for it
    status = status_of(error)
    headers = _RETRY_AFTER if status == HTTPStatus.SERVICE_UNAVAILABLE else {}
    return _answer(request, RequestRefused(status, str(error), headers))


async def _nobody_reads(_request: Request, _error: Exception) -> Response:
    return Response(status_code=400)


async def _failed(request: Request, _error: Exception) -> Response:
    """A mistake of ours: it is raised again after the answer, logged, and ends the connection."""
    message = "the request failed; the log of the server says why"
    return _answer(request, RequestRefused(500, message, {"Connection": "close"}))


async def _away(request: Request, error: Exception) -> Response:
    """A full disk, say, or a file that is gone: an exporter keeps what it has, and tries again."""
    reason = getattr(error, "strerror", None) or type(error).__name__
    event, what = (
        ("not_answered", "read or stored") if is_of_api(request) else ("not_taken", "stored")
    )
    _log.error(event, path=request.url.path, reason=reason)
    return refused(request, RequestRefused(503, f"it cannot be {what} now", _RETRY_AFTER))
