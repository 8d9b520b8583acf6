"""Who may use the front door: the same machine, or the bearer of the token, and no web page.

A page that the user visits can make their browser post to loopback, and after rebinding its own
name to 127.0.0.1 it can read the answers. It can set neither `Host` nor `Origin`, so both are
checked; it does not know the token.
"""

import base64
import binascii
import hmac
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from trackrecord.http_settings import HttpSettings

from .answers import Refused, refused
from .callers import OWNER
from .listening import is_loopback

_LONGEST_SHOWN = 100


class Access:
    """An ASGI application in front of another one, which sees only requests that are permitted.

    Args:
        app: the application.
        settings: the token and the names of this server.
    """

    def __init__(self, app: ASGIApp, settings: HttpSettings) -> None:
        self._app = app
        self._token = settings.token
        self._names = {name.lower() for name in settings.names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on, or answer it with 401 or 403."""
        if scope["type"] == "http":
            scope["caller"] = OWNER
            request = Request(scope)
            refusal = self._refusal(request)
            if refusal is not None:
                await refused(request, refusal)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _refusal(self, request: Request) -> Refused | None:
        host = request.headers.get("host", "")
        # Whoever knows the token may use any name: no web page knows it.
        if self._token is None and not self._is_own(_name_of(host)):
            shown = ascii(_name_of(host))[:_LONGEST_SHOWN]
            message = f"host {shown} is not this machine; TRACKRECORD_HTTP__NAMES permits names"
            return Refused(403, message)
        origin = request.headers.get("origin")
        if origin is not None and not _is_same(origin, host):
            return Refused(403, "requests of other web pages are refused")
        if self._token is not None and not _carries(request, self._token):
            message = "the token is missing or wrong; send `Authorization: Bearer TOKEN`"
            return Refused(401, message, {"WWW-Authenticate": "Bearer"})
        return None

    def _is_own(self, name: str) -> bool:
        return is_loopback(name) or name in self._names


def _name_of(host: str) -> str:
    """Return the name in a Host header, without the port; "" if it is malformed."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _is_same(origin: str, host: str) -> bool:
    return origin.lower() in (f"http://{host}".lower(), f"https://{host}".lower())


def _carries(request: Request, token: str) -> bool:
    """Return whether a request carries the token, compared in constant time."""
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    given = given.strip()
    if scheme.lower() == "basic":
        given = _password(given)
    elif scheme.lower() != "bearer":
        return False
    return hmac.compare_digest(given.encode(), token.encode())


def _password(credentials: str) -> str:
    try:
        return base64.b64decode(credentials, validate=True).decode().partition(":")[2]
    except (binascii.Error, ValueError):
        return ""
