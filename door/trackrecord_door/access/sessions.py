"""Sessions of browsers: a one-time code that `trackrecord open` gets becomes a cookie.

Both are kept in memory alone, so that they end with the server: a cookie that a browser sends to
whoever listens on the port afterwards opens nothing any more. Used from the event loop alone.
"""

import secrets
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from ..protocol.answers import RequestRefused, as_json
from ..protocol.callers import OWNER, caller_of

PATH: Final = "/session"
_CODE_S: Final = 60.0
# After its last use.
_SESSION_S: Final = 12 * 3600.0
_MOST: Final = 100
_SECRET_BYTES: Final = 32
# A redirect would belong to whatever led here: from a file or another program's window, browsers
# send no cookie of this kind with it. This page goes on by itself.
_GO_ON: Final = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>trackrecord</title>'
    '<meta http-equiv="refresh" content="0;url=/"></head>'
    '<body><p><a href="/">To the page</a></p></body></html>'
)
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class Sessions:
    """The codes and the sessions of one server.

    Args:
        home: trackrecord's home. The cookie is named after it, because browsers send a cookie to
            every port of a host.
        clock: returns seconds that never go back.
    """

    def __init__(self, home: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self.cookie: Final = f"trackrecord_{sha256(str(home).encode()).hexdigest()[:8]}"
        self._clock = clock
        # By digest: when each expires.
        self._codes: dict[bytes, float] = {}
        self._sessions: dict[bytes, float] = {}

    def new_code(self) -> str:
        """Return a code that begins one session within a minute."""
        return self._added(self._codes, _CODE_S)

    def begin(self, code: str) -> str | None:
        """Start a session; return the value of its cookie, None if the code is not valid."""
        expires_at = self._codes.pop(_digest(code), 0.0)
        return self._added(self._sessions, _SESSION_S) if self._clock() < expires_at else None

    def is_open(self, cookie: str) -> bool:
        """Return whether a cookie's session is open, and extend it by twelve hours."""
        digest = _digest(cookie)
        if self._clock() >= self._sessions.get(digest, 0.0):
            return False
        self._sessions[digest] = self._clock() + _SESSION_S
        return True

    def routes(self) -> list[Route]:
        """Return the routes: POST gets a code, GET exchanges it."""
        return [
            Route(PATH, self._new, methods=["POST"]),
            Route(PATH, self._begin, methods=["GET"]),
        ]

    async def _new(self, request: Request) -> Response:
        # Not with a token of the store: the session would outlast the token.
        if caller_of(request) is not OWNER:
            raise RequestRefused(403, "only the user who runs trackrecord may begin a session")
        return as_json({"path": f"{PATH}?code={self.new_code()}"})

    async def _begin(self, request: Request) -> Response:
        cookie = self.begin(request.query_params.get("code", ""))
        if cookie is None:
            message = "this link was used or is older than a minute: run `trackrecord open`"
            raise RequestRefused(401, message)
        answer = HTMLResponse(_GO_ON, headers=_HEADERS)
        answer.set_cookie(self.cookie, cookie, httponly=True, samesite="strict", path="/")
        return answer

    def _added(self, secrets_until: dict[bytes, float], seconds: float) -> str:
        now = self._clock()
        for digest, expires_at in list(secrets_until.items()):
            if now >= expires_at or len(secrets_until) >= _MOST:
                del secrets_until[digest]
        made = secrets.token_urlsafe(_SECRET_BYTES)
        secrets_until[_digest(made)] = now + seconds
        return made


def _digest(secret: str) -> bytes:
    return sha256(secret.encode(errors="replace")).digest()
