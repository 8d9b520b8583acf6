"""Who may use the front door: the same machine, or the bearer of a token, and no web page.

A page that the user visits can make their browser post to loopback, and after rebinding its own
name to 127.0.0.1 it can read the answers. It can set neither `Host` nor `Origin`, so both are
checked; it does not know a token.

A token of the store counts on every address: whoever presents one on loopback is held to what it
permits.
"""

import base64
import binascii
import hmac
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from trackrecord.access_tokens import PREFIX
from trackrecord.errors import TrackrecordError
from trackrecord.http_settings import HttpSettings

from .answers import RequestRefused, refused
from .callers import OWNER, Caller
from .listening import is_loopback
from .tokens import Tokens

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
    """

    def __init__(self, app: ASGIApp, settings: HttpSettings, tokens: Tokens) -> None:
        self._app = app
        self._token = settings.token
        self._is_open = settings.token is None and is_loopback(settings.host)
        self._names = {name.lower() for name in settings.names}
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on, or answer it with 401, 403 or 503."""
        if scope["type"] == "http":
            request = Request(scope)
            try:
                scope["caller"] = await self._caller(request)
            except RequestRefused as refusal:
                await refused(request, refusal)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _caller(self, request: Request) -> Caller:
        host = request.headers.get("host", "")
        origin = request.headers.get("origin")
        if origin is not None and not _is_same(origin, host):
            raise RequestRefused(403, "requests of other web pages are refused")
        given = _credential(request)
        if self._token is not None and hmac.compare_digest(given.encode(), self._token.encode()):
            return OWNER
        # Langfuse's clients send keys of their own, which nobody here knows.
        if given.startswith(PREFIX):
            return await self._bearer(request, given)
        if not self._is_open:
            message = "the token is missing or wrong; send `Authorization: Bearer TOKEN`"
            raise RequestRefused(401, message, _challenge(request))
        # Whoever knows a token may use any name: no web page knows it.
        if not self._is_own(_name_of(host)):
            shown = ascii(_name_of(host))[:_LONGEST_SHOWN]
            message = f"host {shown} is not this machine; TRACKRECORD_HTTP__NAMES permits names"
            raise RequestRefused(403, message)
        return OWNER

    async def _bearer(self, request: Request, token: str) -> Caller:
        """Return the caller that a token of the store stands for, on whichever address."""
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


def _challenge(request: Request) -> dict[str, str]:
    """Return the header that says how to send a token; a browser then asks the person for it."""
    is_page = "text/html" in request.headers.get("accept", "")
    return {"WWW-Authenticate": _ASK_THE_PERSON if is_page else "Bearer"}


def _name_of(host: str) -> str:
    """Return the name in a Host header, without the port; "" if it is malformed."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _is_same(origin: str, host: str) -> bool:
    return origin.lower() in (f"http://{host}".lower(), f"https://{host}".lower())


def _credential(request: Request) -> str:
    """Return the token that a request carries: a bearer's, or a password; "" for none."""
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
