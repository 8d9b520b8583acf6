"""The objects of a worker process, built once in each process from the settings."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

import redis
from sqlalchemy import Engine
from sqlalchemy.pool import QueuePool

from trackrecord.inflight.retry_record import RetryTexts
from trackrecord.learning.strategies.recogniser import Recogniser
from trackrecord.process.memory import return_free_memory
from trackrecord.redis.client import worker_client
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
from .notify.detect import NewsDetector
from .spans import Spans

if TYPE_CHECKING:
    from celery import Celery
    from celery.schedules import crontab


class Services:
    """The stages of the flow in one process, or in one thread of the learner.

    Args:
        settings: validated settings.
        app: the Celery app, to wake another process; None where one process does all.
    """

    def __init__(self, settings: DaemonSettings, app: Celery | None) -> None:
        self.settings = settings
        self._app = app
        # The store's last write when everything that waited in it had been indexed.
        self.indexed_write: object = None

    def for_another_thread(self) -> Services:
        """Return stages with the same store, whose state no other thread shares."""
        other = Services(self.settings, self._app)
        vars(other)["engine"] = self.engine
        return other

    def rest(self) -> None:
        """Give back what the connections to the store hold: pages that they have read, statements.

        For a store to which nobody writes; the next transaction connects anew.
        """
        pool = self.engine.pool
        if isinstance(pool, QueuePool) and pool.checkedin():
            self.engine.dispose()
            return_free_memory()

    @cached_property
    def redis(self) -> redis.Redis:
        """A patient Redis client."""
        return worker_client(self.settings)

    @cached_property
    def engine(self) -> Engine:
        """The store, migrated."""
        return open_store(
            self.settings.effective_database_url, timeout_s=self.settings.database_timeout_s
        )

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
    def news(self) -> NewsDetector:
        """The detector of news that people are notified of."""
        return NewsDetector(self.engine, self.redis, self.settings)

    @cached_property
    def outage(self) -> DatabaseOutage:
        """The state of the database as this process sees it."""
        return DatabaseOutage(self.redis, self.settings.keys, self.settings.backoff_max_s)

    @cached_property
    def redis_outage(self) -> RedisOutage:
        """The state of Redis as this process sees it."""
        return RedisOutage(self.redis, self.settings.keys)

    @cached_property
    def spans(self) -> Spans:
        """The spans of this process's work."""
        return Spans(self.settings)

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
            spans=self.spans,
            wake_another=self._wake_another,
        )

    @cached_property
    def schedule(self) -> crontab:
        """The crontab of consolidation."""
        from .schedule import parse_crontab

        return parse_crontab(self.settings.consolidation_crontab, self._app)

    def _wake_another(self) -> None:
        if self._app is None:
            return
        from kombu.exceptions import OperationalError

        from .wake_ups import DRAIN

        # A Redis whose memory is full takes no wake-up; without help this process goes on alone.
        with suppress(OperationalError, redis.OutOfMemoryError):
            self._app.send_task(DRAIN)
