"""The objects of a worker process, built once in each process from the settings."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING

import redis
from sqlalchemy import Engine
from sqlalchemy.pool import QueuePool

from trackrecord.inflight.retry_record import RetryTexts
from trackrecord.learning.strategies.recogniser import Recogniser
from trackrecord.process.memory import return_free_memory
from trackrecord.redis.client import worker_client
from trackrecord.redis.signs_of_life import SignOfLife
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.database.migrate import open_store
from trackrecord.wire.outcome_scorer import recogniser_of, scorer_of

from .caching.advise import Adviser
from .caching.rebuild_reminder import RebuildReminder
from .caching.record_vectors import RecordVectors
from .caching.refresh import RankingsRefresher
from .learning.drain import Drain
from .learning.entries import IntakeContext
from .learning.outage import DatabaseOutage, RedisOutage
from .learning.stream import OutcomeStream

if TYPE_CHECKING:
    from celery import Celery
    from celery.schedules import crontab


class Stopping(BaseException):
    """Raised between two steps of a job when the worker is to end."""


class ProcessParts:
    """The parts that the threads of one process share: Redis client, store, and sign of life.

    Args:
        settings: validated settings.
    """

    def __init__(self, settings: DaemonSettings) -> None:
        self._settings = settings
        self._lock = Lock()
        self._engine: Engine | None = None
        # Held while a batch is learnt: two threads that wrote to a SQLite store at the same time
        # would take each other for another process that has locked it.
        self.learning = Lock()
        self.redis = worker_client(settings)
        self.sign_of_life = SignOfLife(self.redis, settings.keys)

    @property
    def engine(self) -> Engine:
        """The store, migrated; opened when a thread first needs it."""
        with self._lock:
            if self._engine is None:
                self._engine = open_store(
                    self._settings.effective_database_url,
                    timeout_s=self._settings.database_timeout_s,
                )
            return self._engine

    def close_store(self) -> None:
        """Close the store, where it was opened."""
        with self._lock:
            if self._engine is not None:
                self._engine.dispose()


class Services:
    """The stages of the flow in one thread of a worker process.

    Args:
        settings: validated settings.
        app: the Celery app, to wake another process; None outside of one.
        parts: what other threads of the process use, too; of its own when not given.
    """

    def __init__(
        self, settings: DaemonSettings, app: Celery | None, parts: ProcessParts | None = None
    ) -> None:
        self.settings = settings
        self._app = app
        self._parts = parts or ProcessParts(settings)
        # The store's last write when everything that waited in it had been indexed.
        self.indexed_write: object = None

    def rest(self) -> None:
        """Give back what the connections to the store hold: pages that they have read, statements.

        For a store to which nobody writes; the next transaction connects anew.
        """
        pool = self.engine.pool
        if isinstance(pool, QueuePool) and pool.checkedin():
            self.engine.dispose()
            return_free_memory()

    @property
    def redis(self) -> redis.Redis:
        """A patient Redis client."""
        return self._parts.redis

    @property
    def engine(self) -> Engine:
        """The store, migrated."""
        return self._parts.engine

    @property
    def sign_of_life(self) -> SignOfLife:
        """The sign by which everybody knows that this process learns."""
        return self._parts.sign_of_life

    @cached_property
    def recogniser(self) -> Recogniser:
        """The recogniser of strategies."""
        return recogniser_of(self.settings.rules)

    @cached_property
    def refresher(self) -> RankingsRefresher:
        """The writer of rankings to the cache."""
        return RankingsRefresher(self.engine, self.redis, self.settings)

    @cached_property
    def adviser(self) -> Adviser:
        """The writer of advice to the cache."""
        return Adviser(self.engine, self.redis, self.settings)

    @cached_property
    def record_vectors(self) -> RecordVectors:
        """The writer of records' vectors to the cache."""
        return RecordVectors(self.redis, self.settings)

    @cached_property
    def reminder(self) -> RebuildReminder:
        """The reminder of rebuilds that are due."""
        return RebuildReminder(self.engine, self.settings)

    @cached_property
    def outage(self) -> DatabaseOutage:
        """The state of the database as this process sees it."""
        return DatabaseOutage(self.redis, self.settings.keys, self.settings.backoff_max_s)

    @cached_property
    def redis_outage(self) -> RedisOutage:
        """The state of Redis as this process sees it."""
        return RedisOutage(self.redis, self.settings.keys)

    @cached_property
    def retry_texts(self) -> RetryTexts:
        """Return the writer of the texts for tasks that retry."""
        return RetryTexts(self.redis, self.settings.keys, self.settings.errors)

    @cached_property
    def drain(self) -> Drain:
        """The drain of the stream."""
        return Drain(
            OutcomeStream(self.redis, self.settings.keys),
            IntakeContext(
                self.engine,
                self.redis,
                self.settings,
                scorer_of(self.settings.rules),
                self.retry_texts,
            ),
            outage=self.outage,
            refresher=self.refresher,
            sign_of_life=self.sign_of_life,
            is_stopping=lambda: self.is_stopping,
            wake_another=self._wake_another,
            learning=self._parts.learning,
        )

    @property
    def is_stopping(self) -> bool:
        """Return whether this process is a worker that is to end as soon as its tasks have."""
        if self._app is None:
            return False
        from celery.worker import state

        # None or False, else an exit status, which may be 0.
        wanted = (state.should_stop, state.should_terminate)
        return any(status is not None and status is not False for status in wanted)

    def end_if_stopping(self, _done: int = 0) -> None:
        """Let a long job look between two steps whether it is to end.

        Raises:
            Stopping: it is.
        """
        if self.is_stopping:
            raise Stopping

    def close_store(self) -> None:
        """Close the store, where it was opened."""
        self._parts.close_store()

    @cached_property
    def schedule(self) -> crontab:
        """The crontab of consolidation."""
        from .schedule import parse_crontab

        return parse_crontab(self.settings.consolidation_crontab, self._app)

    def _wake_another(self) -> None:
        if self._app is None:
            return
        from kombu.exceptions import OperationalError

        from .job_table import DRAIN

        # A Redis that is full or away takes no wake-up; without help this process goes on alone.
        with suppress(OperationalError, redis.RedisError):
            self._app.send_task(DRAIN)
