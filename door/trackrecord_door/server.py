"""The server of the front door, in the process that calls it.

Access to the front door: for its own user, and bearers of tokens; never for other web pages.

Requests over the Unix socket are of the same user, who alone can connect to it. Everything else
needs a credential: the server's own token, the one derived from it that may only report, a token of
the store, or the session of a browser, which shows the page and nothing else.

A page that the user visits can make their browser post to loopback, and after rebinding its own
name to 127.0.0.1 it can read the answers. It can set neither `Host` nor `Origin`, so both are
checked; it does not know a token, and browsers send the cookie of a session to its own host alone.

The route of the Model Context Protocol: `/mcp`, for clients of any of its versions.

Each request stands alone: there is no session to keep, and a client goes on as if nothing had
happened after the server was started again. `?project=P` names a project other than that of the
settings, `?tools=recall,remember` offers fewer tools, and over the socket in the home `?folder=`
names the project of a folder.
"""

import asyncio
import base64
import binascii
import contextlib
import hmac
import logging
import resource
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module
from types import FrameType
from typing import Final
from urllib.parse import urlsplit

import structlog
import uvicorn
from starlette.applications import Starlette
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from trackrecord.errors import InvalidRequest, TrackrecordError
from trackrecord.learning.numbers.speakers import LOCAL
from trackrecord.learning.text.project_names import checked_project
from trackrecord.settings.http_settings import HttpSettings
from trackrecord.wire.access_tokens import PREFIX
from trackrecord_capture.agents.installed import read_installed
from trackrecord_capture.live.notes import TooManyNotes
from trackrecord_capture.projects import run_projects
from trackrecord_door.ingest.otlp_routes import BodyReceiver

from .access.sessions import PATH as SESSION
from .access.sessions import Sessions
from .access.stored_tokens import reporting_token
from .access.tokens import Tokens
from .api import routes as api_routes
from .ingest.intake import Intake
from .ingest.otlp_routes import OtlpRoutes
from .mcp_server.mcp_scope import READING, McpScope, chosen_tools
from .metrics import health_routes
from .metrics import routes as metrics_routes
from .metrics.requests import PAGE, CountRequests, Requests, surface_of
from .page import routes as page_routes
from .page.handling import error_answer
from .protocol.answers import JSON, RequestRefused, media_type, refused
from .protocol.bodies import Bodies
from .protocol.callers import OWNER, REPORTER, Caller, Permission, caller_of, check_permitted
from .protocol.connections import BoundedProtocol, came_over_socket
from .protocol.listening import is_loopback
from .query_service import QueryService

Serve = Callable[[McpScope, Scope, Receive, Send], Awaitable[None]]

_BAD_REQUEST = 400


class McpRoutes:
    """The route, and what it imports.

    Args:
        service: answers questions.
    """

    def __init__(self, service: QueryService) -> None:
        self._settings = service.settings
        self._serve: Serve | None = None
        self._importing = asyncio.Lock()

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        # A client may ask to listen (GET) or to end its session (DELETE): it is told that there is
        # nothing to listen to, and no session.
        return [Route("/mcp", self, methods=["POST"])]

    async def warm_up(self) -> None:
        """Import the SDK if an agent was given our server: it waits for the tools, but not long."""
        if any(installed.mcp for installed in read_installed(self._settings.home).values()):
            await self._imported()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        agent_scope = self._agent_scope(Request(scope))
        serve = self._serve or await self._imported()
        await serve(agent_scope, scope, receive, send)

    def _agent_scope(self, request: Request) -> McpScope:
        """Return the project and the task of the request.

        Raises:
            RequestRefused: it names no project or no tools that there can be, or may not use them.
        """
        caller, asked = caller_of(request), request.query_params
        try:
            project = checked_project(
                asked.get("project") or caller.project or self._settings.project
            )
            tools = chosen_tools([name for name in asked.get("tools", "").split(",") if name])
        except (ValueError, InvalidRequest) as error:
            raise RequestRefused(_BAD_REQUEST, str(error)) from None
        check_permitted(request, Permission.READ, project)
        if caller.permission < Permission.WRITE:
            tools = tuple(name for name in tools if name in READING)
        folder = asked.get("folder")
        if folder and came_over_socket(request):
            # An agent of the same user, whose hooks name the project of this folder, too.
            return McpScope(partial(self._project_of, folder), tools, caller.name or LOCAL)
        return McpScope(lambda: project, tools, caller.name or LOCAL)

    def _project_of(self, folder: str) -> str:
        return run_projects(self._settings.capture, self._settings.home).of(folder)

    async def _imported(self) -> Serve:
        """Import the SDK with the first request, on a thread: hooks are answered meanwhile."""
        async with self._importing:
            if self._serve is None:
                found = await asyncio.to_thread(import_module, ".mcp_server.over_http", __package__)
                self._serve = found.serve
        return self._serve


_REPORTING: Final = ("otlp", "health")
# As much as the server waits for.
_LARGEST_HEAD: Final = 64 * 1024
_LONGEST_SHOWN: Final = 100
_RETRY_AFTER_S: Final = "5"
_ASK_THE_PERSON: Final = 'Basic realm="trackrecord", charset="UTF-8"'


class Access:
    """An ASGI application in front of another one, which sees only requests that are permitted.

    It says of each request whose it is, as `scope["caller"]`.

    Args:
        app: the application.
        settings: the address, the token and the names of this server.
        tokens: the tokens of the store.
        sessions: those of browsers.
        answer: makes the answer to a request that is refused.
    """

    def __init__(
        self,
        app: ASGIApp,
        settings: HttpSettings,
        tokens: Tokens,
        sessions: Sessions,
        answer: Callable[[Request, RequestRefused], Response],
    ) -> None:
        self._app = app
        self._own = _callers_of(settings.token)
        self._is_local = is_loopback(settings.host)
        self._is_open = settings.open_to_local_users and self._is_local
        self._names = {name.lower() for name in settings.names}
        self._tokens = tokens
        self._sessions = sessions
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on, or answer it with 401, 403 or 503."""
        if scope["type"] == "http":
            request = Request(scope)
            try:
                _check_head(request)
                await self._check(request)
            except RequestRefused as refusal:
                # Before anything of a body is read.
                await self._answer(request, refusal)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _check(self, request: Request) -> None:
        """Find the caller of a request.

        Raises:
            RequestRefused: it is nobody's who may send it.
        """
        caller = await self._caller(request)
        if caller is None and (request.method, request.scope["path"]) != ("GET", SESSION):
            raise self._no_credential(request)
        if caller is REPORTER and surface_of(request.scope["path"]) not in _REPORTING:
            message = "this token may only report traces, logs and scores"
            raise RequestRefused(403, message)
        if caller is not None:
            request.scope["caller"] = caller

    async def _caller(self, request: Request) -> Caller | None:
        """Return the caller of a request; None if it has no credential.

        Raises:
            RequestRefused: another web page sends it, or its credential is not valid.
        """
        host = request.headers.get("host", "")
        origin = request.headers.get("origin")
        if origin is not None and not _is_same(origin, host):
            raise RequestRefused(403, "requests of other web pages are refused")
        given = _credential(request)
        for token, caller in self._own:
            if hmac.compare_digest(given.encode(), token):
                return caller
        if given.startswith(PREFIX):
            return await self._bearer(request, given)
        if came_over_socket(request) or self._has_session(request):
            return OWNER
        if not self._is_open:
            return None
        # Whoever has a credential may use any name: no web page has one.
        if not self._is_own(_name_of(host)):
            shown = ascii(_name_of(host))[:_LONGEST_SHOWN]
            message = f"host {shown} is not this machine; TRACKRECORD_HTTP__NAMES permits names"
            raise RequestRefused(403, message)
        return OWNER

    def _has_session(self, request: Request) -> bool:
        """Return whether a browser shows the page to the user of this server.

        Other servers of this host are of the same site, so that their pages could send the cookie.
        """
        cookie = request.cookies.get(self._sessions.cookie)
        return (
            cookie is not None
            and surface_of(request.scope["path"]) == PAGE
            and request.headers.get("sec-fetch-site") in (None, "none", "same-origin")
            and self._sessions.is_open(cookie)
        )

    def _no_credential(self, request: Request) -> RequestRefused:
        if not _wants_page(request):
            message = (
                "the token is missing or wrong; send `Authorization: Bearer TOKEN`, "
                "`trackrecord token show` prints yours"
            )
            return RequestRefused(401, message, {"WWW-Authenticate": "Bearer"})
        message = (
            "This page is for the user who runs trackrecord. On the machine that it runs on, "
            "`trackrecord open` opens it; from another one, enter a token as the password."
        )
        # A browser on this machine would only ask for a password that nobody has to know.
        challenge = "Bearer" if self._is_local else _ASK_THE_PERSON
        return RequestRefused(401, message, {"WWW-Authenticate": challenge})

    async def _bearer(self, request: Request, token: str) -> Caller:
        """Return the caller of a token of the store, on any address."""
        try:
            caller = await self._tokens.caller_of(token)
        except TrackrecordError:
            message = "the token cannot be checked now: the database cannot be used"
            raise RequestRefused(503, message, {"Retry-After": _RETRY_AFTER_S}) from None
        if caller is None:
            message = "the token is unknown or revoked; `trackrecord token create` makes another"
            raise RequestRefused(401, message, _challenge(request))
        return caller

    def _is_own(self, name: str) -> bool:
        return is_loopback(name) or name in self._names


def _callers_of(token: str | None) -> tuple[tuple[bytes, Caller], ...]:
    """Return the callers of the server's own token and of the one derived from it."""
    if token is None:
        return ()
    return (token.encode(), OWNER), (reporting_token(token).encode(), REPORTER)


def _wants_page(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "")


def _challenge(request: Request) -> dict[str, str]:
    """Return the header that describes how to send a token; a browser then asks for it."""
    return {"WWW-Authenticate": _ASK_THE_PERSON if _wants_page(request) else "Bearer"}


def _check_head(request: Request) -> None:
    """Refuse a head of which a proxy in front could have read something else, or one too large.

    Raises:
        RequestRefused: it is one of these; nothing that follows is read as another request.
    """
    closes = {"connection": "close"}
    if "content-length" in request.headers and "transfer-encoding" in request.headers:
        raise RequestRefused(400, "send content-length or transfer-encoding, not both", closes)
    if sum(len(name) + len(value) for name, value in request.headers.raw) > _LARGEST_HEAD:
        raise RequestRefused(431, f"send at most {_LARGEST_HEAD} bytes of headers", closes)


def _name_of(host: str) -> str:
    """Return the name in a Host header, without the port; "" if it is malformed."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _is_same(origin: str, host: str) -> bool:
    return origin.lower() in (f"http://{host}".lower(), f"https://{host}".lower())


def _credential(request: Request) -> str:
    """Return the token of a request: a bearer's, or a password; "" for none."""
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    given = given.strip()
    if scheme.lower() == "basic":
        return _password(given)
    return given if scheme.lower() == "bearer" else ""


def _password(credentials: str) -> str:
    try:
        return base64.b64decode(credentials, validate=True).decode().partition(":")[2]
    except (binascii.Error, ValueError):
        return ""


class HookRoutes:
    """The route of hooks.

    Args:
        intake: takes what was posted.
        bodies: reads what was posted.
    """

    def __init__(self, intake: Intake, bodies: Bodies) -> None:
        self._intake = intake
        self._bodies = bodies

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [Route("/hooks/{agent}", self._hook, methods=["POST"])]

    async def _hook(self, request: Request) -> Response:
        # An agent's folder says which project its runs are of.
        check_permitted(request, Permission.WRITE, None)
        agent = request.path_params["agent"]
        if not self._intake.knows(agent):
            raise RequestRefused(404, "there is no such agent")
        # A form of a web page cannot send this type without asking first.
        if media_type(request) != JSON:
            raise RequestRefused(415, f"send {JSON}")
        async with self._bodies.of(request) as body:
            try:
                answer = await self._intake.hook(agent, body)
            except TooManyNotes:
                message = "too many notes of hooks wait to be read; try again"
                raise RequestRefused(503, message, {"Retry-After": "5"}) from None
        return Response(status_code=204) if answer is None else Response(answer, media_type=JSON)


_log = structlog.get_logger(__name__)


class _AnyText(PathConvertor):
    """The rest of a path, as agents name runs freely: also with line ends, unlike `.*`."""

    regex = r"(?s:.*)"


register_url_convertor("path", _AnyText())


# Of the body of a request, compressed and decompressed.
_MOST_BYTES: Final = 20 * 1024 * 1024


def create_app(settings: HttpSettings, intake: Intake, service: QueryService) -> Starlette:
    """Build the application.

    Args:
        settings: who may use it.
        intake: takes what was posted; closed when the application ends.
        service: answers questions; closed when the application ends.
    """
    bodies = Bodies(_MOST_BYTES)
    posted = BodyReceiver(intake, bodies)
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
            *health_routes.routes(),
            *sessions.routes(),
            *OtlpRoutes(posted, bodies).routes(),
            *HookRoutes(intake, bodies).routes(),
            *api_routes.routes(service, bodies),
            *mcp.routes(),
            *metrics_routes.routes(service, intake.captured, requests),
            # Last: every path that is none of the others' is the page's.
            *page_routes.routes(service),
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
            OSError: _cannot_keep,
            Exception: _failed,
        },
        lifespan=lifespan,
    )


def _refusal(request: Request, refusal: RequestRefused) -> Response:
    """Answer a browser with a page, and programs in their own format."""
    if "text/html" in request.headers.get("accept", ""):
        return error_answer(request, refusal)
    return refused(request, refusal)


async def _refuse(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestRefused)  # noqa: S101 - registered for it
    return _refusal(request, error)


async def _refuse_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for it
    return _refusal(request, RequestRefused(error.status_code, error.detail, error.headers or {}))


async def _nobody_reads(_request: Request, _error: Exception) -> Response:
    return Response(status_code=400)


async def _failed(request: Request, _error: Exception) -> Response:
    """A mistake of ours: it is raised again after the answer, logged, and ends the connection."""
    message = "the request failed; the log of the server says why"
    return _refusal(request, RequestRefused(500, message, {"Connection": "close"}))


async def _cannot_keep(request: Request, error: Exception) -> Response:
    """A full disk, say: the exporter keeps what it has, and tries again."""
    reason = getattr(error, "strerror", None) or type(error).__name__
    _log.error("not_taken", path=request.url.path, reason=reason)
    return refused(request, RequestRefused(503, "it cannot be stored now", {"Retry-After": "5"}))


# A head beyond this is refused.
_MAX_HEAD_BYTES = 64 * 1024
# Between two requests of one connection. Exporters post every five seconds.
_KEEP_ALIVE_S = 15
# `up` waits for 30 seconds, and the receiver needs some time for itself.
_LAST_REQUESTS_S = 10
_LOOK_EVERY_S = 1.0
_OTHER_FILES = 100
# So many connections may be taken at once before those that are too many are closed.
_BACKLOG = 1024


def _permit_files(protocol: type[BoundedProtocol]) -> None:
    """Let this process have a file for each connection; some systems begin with 256 in all."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = protocol.most_connections + protocol.most_over_socket + 2 * _BACKLOG + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


class _Server(uvicorn.Server):
    """uvicorn's server, which looks once a second and not ten times, and stops at once."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._wake = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def main_loop(self) -> None:
        """Keep the date of answers right until a signal comes."""
        self._loop = asyncio.get_running_loop()
        while not await self.on_tick(0):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), _LOOK_EVERY_S)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop; a second signal stops without waiting for requests."""
        super().handle_exit(sig, frame)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._wake.set)


def serve(
    listeners: Sequence[socket.socket],
    settings: HttpSettings,
    intake: Intake,
    service: QueryService,
    protocol: type[BoundedProtocol] = BoundedProtocol,
) -> None:
    """Serve HTTP until SIGINT or SIGTERM; requests that were begun are answered first.

    Args:
        listeners: sockets that listen, over TCP and the Unix socket of the home.
        settings: who may use the server, and how large a body may be.
        intake: takes what was posted.
        service: answers questions.
        protocol: the bounds of connections.
    """
    config = uvicorn.Config(
        create_app(settings, intake, service),
        http=protocol,
        ws="none",
        loop="asyncio",
        interface="asgi3",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=_BACKLOG,
        headers=[("X-Content-Type-Options", "nosniff")],
        h11_max_incomplete_event_size=_MAX_HEAD_BYTES,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=_LAST_REQUESTS_S,
    )
    _permit_files(protocol)
    # At "warning" it reports requests that are not HTTP, which anybody can send.
    logging.getLogger("uvicorn").setLevel(logging.ERROR)
    server = _Server(config)

    def end(_number: int, _frame: FrameType | None) -> None:
        server.should_exit = True

    # For signals before uvicorn handles them, and for those that it raises again when it has ended
    # in order: that is the end, and no failure.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    server.run(sockets=list(listeners))
