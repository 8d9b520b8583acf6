"""The objects of a worker process, built once in each process from the settings.

Write the vectors of competence records next to the cached rankings, where agents compare them.

They are made of what the rankings say, so they need no database: with SQLite, too, a prompt is
fitted to a task by its meaning.
"""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from threading import Lock
from typing import Final

import msgspec
import redis
import structlog
from celery import Celery
from celery.worker import state
from kombu.exceptions import OperationalError
from sqlalchemy import Engine
from sqlalchemy.pool import QueuePool

from trackrecord.embeddings.client import embed
from trackrecord.embeddings.packed import (
    DIGEST_BYTES,
    PackedVectors,
    decode_vectors,
    packed_vectors,
)
from trackrecord.embeddings.packed import pack as pack_vector
from trackrecord.errors import EndpointAway
from trackrecord.inflight.retry_record import RetryTexts
from trackrecord.learning.competences.phrases import embedded_text
from trackrecord.learning.strategies.recogniser import Recogniser
from trackrecord.prompt.documents.rankings_document import RankedCompetence, decode_document
from trackrecord.prompt.reading.cache import (
    complete_vectors,
    confirm_vectors,
    read_document,
    read_vectors,
    write_vectors,
)
from trackrecord.redis.client import worker_client
from trackrecord.redis.signs_of_life import SignOfLife
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.competences.selection.selection_index import digest_of_text
from trackrecord.store.database.engine import reading
from trackrecord.store.database.migrate import open_store
from trackrecord.store.outcomes.recorded_rules import rebuilds_due
from trackrecord.wire.outcome_scorer import recogniser_of, scorer_of

from .caching.advise import Adviser
from .caching.refresh import RankingsRefresher
from .caching.seen_documents import ProjectRevisions
from .job_table import DRAIN
from .learning.drain import Drain
from .learning.entries import IntakeContext
from .learning.outage import DatabaseOutage, RedisOutage
from .learning.stream import OutcomeStream
from .schedule import SteadyCrontab, parse_crontab


def return_free_memory() -> None:
    """Collect garbage, and return what is free; glibc alone needs a call for that."""
    gc.collect()
    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


# An agent holds them in its memory: the best records have vectors, as far as this goes.
_MOST_BYTES: Final = 8 * 1024 * 1024
# One task counts for so long, and leaves the rest to the next one.
_SLICE_S: Final = 2.0

_log = structlog.get_logger(__name__)


class RecordVectors:
    """Embed the competence records of the cached rankings.

    Args:
        client: a patient Redis client.
        settings: the endpoint, and where the cache is.
    """

    def __init__(self, client: redis.Redis, settings: DaemonSettings) -> None:
        self._client = client
        self._settings = settings
        self._endpoint = settings.embeddings
        self._ask_again_at = 0.0
        self._is_away = False

    def renew(self, projects: Sequence[str]) -> int:
        """Embed missing texts, project by project; return how many texts were embedded.

        While the endpoint is away, tasks are compared by words.
        """
        if self._endpoint.url is None or time.monotonic() < self._ask_again_at:
            return 0
        embedded, until = 0, time.monotonic() + _SLICE_S
        try:
            for project in projects:
                if time.monotonic() > until:
                    break
                if not complete_vectors(self._client, self._settings, project):
                    embedded += self._renew_project(project, until)
        except EndpointAway as error:
            self._note_away(error)
        return embedded

    def _renew_project(self, project: str, until: float) -> int:
        stamp, data = read_document(self._client, self._settings, project)
        if data is None or stamp is None:
            return 0
        try:
            texts = {each.id: _text_of(each) for each in decode_document(data).competences}
        except (msgspec.DecodeError, KeyError):  # another version's rankings are computed anew
            return 0
        found = self._found(project)
        known = dict(found.by_digest)
        missing = [text for text in dict.fromkeys(texts.values()) if _digest(text) not in known]
        embedded = 0
        while missing and not self._is_full(known) and time.monotonic() <= until:
            batch, missing = (
                missing[: self._endpoint.batch_size],
                missing[self._endpoint.batch_size :],
            )
            made = embed(self._endpoint, batch)
            self._is_away = False
            known |= {
                _digest(text): pack_vector(each) for text, each in zip(batch, made, strict=True)
            }
            embedded += len(batch)
        is_complete = not missing or self._is_full(known)
        vectors = self._together(texts, known)
        of = stamp if is_complete else b""
        if vectors == found:
            confirm_vectors(self._client, self._settings, project, of=of)
        else:
            write_vectors(self._client, self._settings, project, vectors, of=of)
        return embedded

    def _found(self, project: str) -> PackedVectors:
        """Return the vectors that exist already; those of another model do not count."""
        _, data = read_vectors(self._client, self._settings, project)
        with suppress(msgspec.DecodeError):  # another version's are made anew
            found = PackedVectors(model="") if data is None else decode_vectors(data)
            if found.model == self._endpoint.model:
                return found
        return PackedVectors(model="")

    def _together(self, texts: dict[str, str], known: dict[bytes, bytes]) -> PackedVectors:
        entries, size = [], 0
        for name, text in texts.items():
            vector = known.get(_digest(text), b"")
            size += len(vector)
            if vector and size <= _MOST_BYTES:
                entries.append((name, _digest(text), vector))
        return packed_vectors(self._endpoint.model, entries)

    @staticmethod
    def _is_full(known: dict[bytes, bytes]) -> bool:
        return sum(map(len, known.values())) >= _MOST_BYTES

    def _note_away(self, error: EndpointAway) -> None:
        self._ask_again_at = time.monotonic() + self._endpoint.retry_after_s
        if not self._is_away:
            self._is_away = True
            _log.warning("embedding_endpoint_away", reason=str(error), compared_by="words")


def _text_of(record: RankedCompetence) -> str:
    return embedded_text(
        record.triggers, record.signature, (each["tool"] for each in record.recipe)
    )


def _digest(text: str) -> bytes:
    return digest_of_text(text)[:DIGEST_BYTES]


class RebuildReminder:
    """Log the projects whose recorded numbers were computed by other rules than the settings'.

    Args:
        engine: the store.
        settings: the settings with the current rules.
    """

    def __init__(self, engine: Engine, settings: DaemonSettings) -> None:
        self._engine = engine
        self._rules = settings.rules.recorded
        self._half_lives = settings.rules.half_lives
        self._revisions = ProjectRevisions(engine)
        self._looked_at: Mapping[str, int] | None = None
        self._said: dict[str, tuple[str, ...]] = {}

    def remind(self) -> None:
        """Log each project for which a rebuild is due, unless it was logged already."""
        revisions = self._revisions.read()
        if revisions is self._looked_at:
            return
        self._looked_at = revisions
        with reading(self._engine) as connection:
            due = rebuilds_due(connection, self._rules, self._half_lives)
        for project, reasons in due.items():
            if self._said.get(project) != reasons:
                _log.warning(
                    "rebuild_due",
                    project=project,
                    reasons=list(reasons),
                    remedy=f"trackrecord rebuild --project {project}",
                )
        self._said = due


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


class Services:
    """The stages of the flow in one thread of a worker process.

    Args:
        settings: validated settings.
        app: the Celery app, to wake another process; None outside of one.
        parts: what other threads of the process use, too; of its own when not given.

    Attributes:
        redis: a patient Redis client.
        sign_of_life: the sign by which everybody knows that this process learns.
    """

    def __init__(
        self, settings: DaemonSettings, app: Celery | None, parts: ProcessParts | None = None
    ) -> None:
        self.settings = settings
        self._app = app
        self._parts = parts or ProcessParts(settings)
        self.redis, self.sign_of_life = self._parts.redis, self._parts.sign_of_life
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
    def engine(self) -> Engine:
        """The store, migrated."""
        return self._parts.engine

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

    @cached_property
    def schedule(self) -> SteadyCrontab:
        """The crontab of consolidation."""
        return parse_crontab(self.settings.consolidation_crontab, self._app)

    def _wake_another(self) -> None:
        if self._app is None:
            return
        # A Redis that is full or away takes no wake-up; without help this process goes on alone.
        with suppress(OperationalError, redis.RedisError):
            self._app.send_task(DRAIN)
