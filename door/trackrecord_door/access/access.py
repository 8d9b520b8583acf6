"""Access to the front door: for its own user, and bearers of tokens; never for other web pages.

Requests over the Unix socket are of the same user, who alone can connect to it. Everything else
needs a credential: the server's own token, the one derived from it that may only report, a token of
the store, or the session of a browser, which shows the page and nothing else.

A page that the user visits can make their browser post to loopback, and after rebinding its own
name to 127.0.0.1 it can read the answers. It can set neither `Host` nor `Origin`, so both are
checked; it does not know a token, and browsers send the cookie of a session to its own host alone.
"""

import base64
import binascii
import hmac
from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from trackrecord.errors import TrackrecordError
from trackrecord.settings.daemon_settings import HttpSettings
from trackrecord.wire.access_tokens import PREFIX

from ..metrics.routes import PAGE, surface_of
from ..protocol.answers import RequestRefused
from ..protocol.callers import OWNER, REPORTER, Caller
from ..protocol.connections import came_over_socket
from ..protocol.listening import is_loopback
from .sessions import PATH as SESSION
from .sessions import Sessions
from .tokens import Tokens, reporting_token

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
