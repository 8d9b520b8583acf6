"""The query service of the reading surfaces: runs calls of `trackrecord` beside the event loop.

The HTTP API, MCP, the metrics and the page ask the same functions as Python and the command line.
They wait for the database and for Redis, so that they run on threads of their own: neither hooks
nor traces wait for them. What they need is imported and opened with the first question, because
many front doors only take what agents report.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar

from trackrecord.resources.project_store import ProjectStore, calls_use
from trackrecord.resources.redis_server import calls_use_redis

if TYPE_CHECKING:
    import redis
    from sqlalchemy import Engine

    from trackrecord.daemon_settings import DaemonSettings
    from trackrecord.prompt.reading.client import RankingsReader

_P = ParamSpec("_P")
_R = TypeVar("_R")

_QUESTIONS_AT_ONCE: Final = 8


class QueryService:
    """The store, Redis and the threads of the surfaces of one front door.

    Args:
        settings: those of this process.
    """

    def __init__(self, settings: DaemonSettings) -> None:
        self.settings: Final = settings
        self._threads = ThreadPoolExecutor(_QUESTIONS_AT_ONCE, "question")
        self._opening = Lock()
        # Redis answers while a database that is away is waited for.
        self._connecting = Lock()
        self._opened = ExitStack()
        self._store: ProjectStore | None = None
        self._client: redis.Redis | None = None
        self._reader: RankingsReader | None = None

    async def ask(self, call: Callable[_P, _R], *given: _P.args, **named: _P.kwargs) -> _R:
        """Run a function on a thread beside the event loop; return its result.

        The calls of `trackrecord` that it makes use the store of this floor.

        Raises:
            TrackrecordError: as the function does; or the store cannot be used.
        """
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, partial(self._answer, call, *given, **named)
        )

    async def run(self, call: Callable[_P, _R], *given: _P.args, **named: _P.kwargs) -> _R:
        """Run a function that does not need the store on a thread beside the event loop."""
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, partial(self._answer_without_store, call, *given, **named)
        )

    def begin(self, call: Callable[_P, _R], *given: _P.args, **named: _P.kwargs) -> Future[_R]:
        """Start a function on a thread without waiting for it; see `ask`."""
        return self._threads.submit(partial(self._answer, call, *given, **named))

    def _answer(self, call: Callable[_P, _R], *given: _P.args, **named: _P.kwargs) -> _R:
        with calls_use(self.store):
            return self._answer_without_store(call, *given, **named)

    def _answer_without_store(
        self, call: Callable[_P, _R], *given: _P.args, **named: _P.kwargs
    ) -> _R:
        with calls_use_redis(self):
            return call(*given, **named)

    @property
    def store(self) -> ProjectStore:
        """Return the store, migrated; opened on first use, and kept open.

        Raises:
            StoreUnavailable: the database cannot be reached or used; the next question tries again.
        """
        with self._opening:
            if self._store is None:
                self._store = self._open_store()
            return self._store

    @property
    def engine(self) -> Engine:
        """The engine of the store; see `store`."""
        return self.store.engine

    @property
    def client(self) -> redis.Redis:
        """A client of Redis that gives up soon: a person waits for the answer."""
        from trackrecord.redis_client import agent_client

        with self._connecting:
            if self._client is None:
                self._client = agent_client(self.settings)
                self._opened.callback(self._client.close)
            return self._client

    @property
    def reader(self) -> RankingsReader:
        """The reader of rankings, which decodes a project's documents once for many questions."""
        from trackrecord.prompt.reading.client import RankingsReader

        with self._connecting:
            if self._reader is None:
                self._reader = RankingsReader(self.settings)
            return self._reader

    def _open_store(self) -> ProjectStore:
        from trackrecord.store.database.migrate import open_store

        engine = open_store(
            self.settings.effective_database_url, timeout_s=self.settings.database_timeout_s
        )
        self._opened.callback(engine.dispose)
        return ProjectStore(engine, self.settings, self.settings.project)

    def close(self) -> None:
        """Finish the questions in progress, then close all connections."""
        self._threads.shutdown()
        self._opened.close()
