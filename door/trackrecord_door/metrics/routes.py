"""The routes of monitoring: the metrics, and that the front door is up."""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from trackrecord_capture.history.capture_counts import CountedSinks
from trackrecord_door.protocol.answers import as_json
from trackrecord_door.protocol.callers import Permission, caller_of, check_permitted
from trackrecord_door.query_service import QueryService

from .requests import Requests

if TYPE_CHECKING:
    from .gathering import Figures, Gathering

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
