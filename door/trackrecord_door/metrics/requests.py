"""Counting of requests: how many each surface answered, and how soon."""

import time
from collections import Counter
from dataclasses import dataclass
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trackrecord.redis.fleet_counts import Durations

BOUNDS_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

# By the beginning of their paths; whatever has another path is the page's.
_SURFACES: Final = (
    ("/v1/", "otlp"),
    ("/hooks/", "hooks"),
    ("/api/", "http"),
    ("/mcp", "mcp"),
    ("/metrics", "metrics"),
    ("/health", "health"),
)
PAGE: Final = "page"
_FAILED: Final = 500


@dataclass(frozen=True)
class Answered:
    """The requests that were answered until a moment.

    Attributes:
        by_status: their number, by surface and class of status, as "2xx".
        durations: by surface, how long they took until their answers began.
    """

    by_status: dict[tuple[str, str], int]
    durations: dict[str, Durations]


class Requests:
    """Counts the requests of one front door; the event loop alone uses it."""

    def __init__(self) -> None:
        self._by_status = Counter[tuple[str, str]]()
        self._durations = {name: Durations(BOUNDS_S) for _, name in (*_SURFACES, ("", PAGE))}

    def note(self, path: str, status: int, seconds: float) -> None:
        """Count a request whose answer began after some seconds."""
        surface = surface_of(path)
        self._by_status[surface, f"{status // 100}xx"] += 1
        self._durations[surface].note(seconds)

    def answered(self) -> Answered:
        """Return the counts so far."""
        durations = {name: each.copy() for name, each in self._durations.items()}
        return Answered(dict(self._by_status), durations)


def surface_of(path: str) -> str:
    """Return the surface that a path belongs to."""
    return next((name for start, name in _SURFACES if path.startswith(start)), PAGE)


class CountRequests:
    """An ASGI application that counts the requests of the one behind it.

    Args:
        app: the application.
        requests: what counts them.
    """

    def __init__(self, app: ASGIApp, requests: Requests) -> None:
        self._app = app
        self._requests = requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on, and count it when its answer begins, or when it fails."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        has_begun = False

        async def counting(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start" and not has_begun:
                has_begun = True
                self._note(scope, message["status"], started)
            await send(message)

        try:
            await self._app(scope, receive, counting)
        except BaseException:
            if not has_begun:
                self._note(scope, _FAILED, started)
            raise

    def _note(self, scope: Scope, status: int, started: float) -> None:
        self._requests.note(scope["path"], status, time.perf_counter() - started)
