"""Monitoring: counts of requests, and the routes of the metrics and of being up."""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trackrecord.redis.fleet_counts import Durations
from trackrecord_capture.history.counts import CountedSinks
from trackrecord_door.protocol.answers import as_json
from trackrecord_door.protocol.callers import Permission, caller_of, check_permitted
from trackrecord_door.query_service import QueryService

if TYPE_CHECKING:
    from .gathering import Figures, Gathering


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


_PATH: Final = "/metrics"
_ODD_VERSION: Final = re.compile(r"version\s*=\s*(?!(?:0\.0\.[14]|1\.0\.0)\s*(?:[;,]|$))")


def routes(service: QueryService, captured: CountedSinks, requests: Requests) -> list[BaseRoute]:
    """Return the routes.

    Args:
        service: the store and Redis.
        captured: counts what this front door captures.
        requests: counts what it answers.
    """
    metrics = _Metrics(service, captured, requests)
    return [
        Route("/health", _health, methods=["GET"]),
        Route(_PATH, metrics.answer, methods=["GET"]),
    ]


async def _health(_request: Request) -> Response:
    return as_json({"status": "ok"})


class _Metrics:
    """Answers scrapes. What that needs is imported with the first one."""

    def __init__(self, service: QueryService, captured: CountedSinks, requests: Requests) -> None:
        self._floor = service
        self._captured = captured
        self._requests = requests
        self._thread = ThreadPoolExecutor(1, "metrics-text")
        self._gathering: Gathering | None = None

    async def answer(self, request: Request) -> Response:
        only = caller_of(request).project
        check_permitted(request, Permission.READ, only)
        loop = asyncio.get_running_loop()
        if self._gathering is None:
            begun = await loop.run_in_executor(self._thread, self._begin)
            self._gathering = self._gathering or begun
        figures = await self._gathering.gather(only)
        accept = request.headers.get("accept", "")
        text, media_type = await loop.run_in_executor(self._thread, _written, figures, accept)
        # As it is: Starlette would add a charset.
        return Response(text, headers={"Content-Type": media_type})

    def _begin(self) -> Gathering:
        from . import metric_families  # noqa: F401 - on this thread: the loop goes on meanwhile
        from .gathering import Gathering

        return Gathering(self._floor, self._captured, self._requests)


def _written(figures: Figures, accept: str) -> tuple[bytes, str]:
    """Return figures in the format of the scraper's choice, and the name of the format."""
    from prometheus_client import CollectorRegistry
    from prometheus_client.exposition import choose_encoder

    from .metric_families import FigureCollector

    registry = CollectorRegistry(auto_describe=False)
    registry.register(FigureCollector(figures))
    # The library echoes versions that it does not know, and fails on those that are not numbers.
    encode, media_type = choose_encoder(accept if _ODD_VERSION.search(accept) is None else "")
    return encode(registry), media_type
