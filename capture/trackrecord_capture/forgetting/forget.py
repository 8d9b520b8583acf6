"""Forgetting, from the outside in: unlearnt bodies, the store, and the caches.

Whatever kills it in between, the same again finishes: it goes by what is there. The store forgets
in one transaction, together with marks of all ids that were found, so that nothing comes back.
"""

import time
from collections.abc import Callable
from typing import Final

import redis
from sqlalchemy import Engine

from trackrecord.errors import StoreBusy, StoreUnavailable
from trackrecord.resources.declaration.resource import Answer
from trackrecord.resources.reports.subjects import unknown_subject
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.database.engine import dialect_of, explained
from trackrecord.wire.subject import Subject
from trackrecord_consolidation.forget import (
    InStore,
    check_turn,
    find_in_store,
    finish,
    forget_in_store,
)
from trackrecord_producers.spool.forgetting import InSpool, find_in_spool, forget_in_spool

from .capture_data import CapturedPlace
from .forget_scope import ForgetScope
from .in_redis import InRedis, RedisPlace
from .on_disk import DiskPlace

# How long others may be at the database's files; a worker reads them again and again.
_PATIENCE_S: Final = 15.0
_PAUSE_S: Final = 0.1


class Forgetting(Answer, frozen=True):
    """The result of forgetting, or of its dry run.

    Attributes:
        what: "source", "task" or "project".
        project: the project.
        name: the source, the task, or the project again.
        dry_run: whether nothing was changed.
        counts: how many of each kind: outcomes, memories, exposures, …; kinds without any, too.
        held: lines of the spool that running processes still write beside; they are left out when
            they arrive.
        was_begun: whether an earlier act that was interrupted is finished by this one.
    """

    what: str
    project: str
    name: str
    dry_run: bool
    counts: dict[str, int]
    held: int = 0
    was_begun: bool = False


class Forgetter:
    """Forget one subject.

    Args:
        engine: the store.
        client: a patient Redis client.
        settings: of this process.
        subject: what is to be forgotten.
        warn: is called with one line about a file that was set aside.
    """

    def __init__(
        self,
        engine: Engine,
        client: redis.Redis,
        settings: DaemonSettings,
        subject: Subject,
        *,
        warn: Callable[[str], None],
    ) -> None:
        self._engine = engine
        self._settings = settings
        self._subject = subject
        self._store: InStore = find_in_store(engine, subject)
        own = {subject.name} if subject.what == "task" else set()
        goes = ForgetScope(subject, self._store.found.tasks | own)
        self._goes = goes
        self._redis = RedisPlace(client, settings, goes)
        self._disk = DiskPlace(settings, goes, warn)
        self._captured = CapturedPlace(
            settings.home, subject, self._store.found.outcomes, settings.project
        )
        self._in_redis: InRedis = self._redis.find()
        self._in_spool: InSpool = find_in_spool(settings.spool_dir, goes.holds)
        self._traces = self._captured.traces()
        self._artifacts = self._disk.artifacts()

    @property
    def found_nothing(self) -> bool:
        """Return whether nothing was found, and no earlier forgetting was interrupted."""
        return not (any(self._counts().values()) or self._store.is_begun)

    def rehearse(self) -> Forgetting:
        """Return what would be forgotten; nothing is changed.

        Raises:
            UnknownId: there is nothing of it anywhere; the message names the nearest known one.
        """
        if self.found_nothing:
            raise unknown_subject(self._engine, self._subject)
        return self._told(self._counts(), dry_run=True)

    def _counts(self) -> dict[str, int]:
        counts = self._store.counts | {
            "waiting": sum(map(len, self._in_redis.entries.values())),
            "dead_letters": sum(map(len, self._in_redis.letters.values())),
            "tasks_in_flight": len(self._in_redis.tasks),
            "spooled": self._in_spool.lines,
            "artifacts": self._artifacts,
            "traces": len(self._traces),
        }
        if self._subject.what == "project":
            counts["benchmark_runs"] = self._disk.benchmark_runs()
        return counts

    def _told(self, counts: dict[str, int], *, dry_run: bool) -> Forgetting:
        return Forgetting(
            self._subject.what,
            self._subject.project,
            self._subject.name,
            dry_run,
            counts,
            self._in_spool.held,
            self._store.is_begun,
        )

    def forget(self, *, actor: str) -> Forgetting:
        """Forget it everywhere.

        Args:
            actor: who does it, for the record of the act.

        Raises:
            UnknownId: there is nothing of it anywhere; the message names the nearest known one.
            AlreadyRunning: the project is being consolidated.
            ServerUnavailable: the database or Redis cannot be used; the same again finishes.
            OSError: a file cannot be written or deleted; the same again finishes.
        """
        now = time.time()
        counts = self.rehearse().counts
        check_turn(self._engine, self._subject.project)
        self._redis.forget_reports(self._in_redis)
        forget_in_spool(self._settings.spool_dir, self._goes.holds)
        self._disk.forget_artifacts()
        self._captured.forget(self._traces)
        counts |= forget_in_store(
            self._engine, self._settings.rules, self._subject, self._marks(), actor=actor, now=now
        )
        self._redis.renew_cache(self._engine, now)
        self._disk.renew_benchmark(self._engine)
        self._redis.rewrite_files()
        self._erase_remains()
        finish(self._engine, self._subject, counts, now=time.time())
        return self._told(counts, dry_run=False)

    def _marks(self) -> set[bytes]:
        marks = set(self._in_redis.marks)
        for kind, body in self._in_spool.reports:
            marks.update(self._goes.marks(kind, body))
        return marks

    def _erase_remains(self) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        try:
            while not self._are_erased(deadline):
                time.sleep(_PAUSE_S)
        except StoreUnavailable as error:
            message = (
                f"everything is forgotten, but deleted text may linger in the database's files: "
                f"{error}; the same command again finishes"
            )
            raise StoreUnavailable(message) from error

    def _are_erased(self, deadline: float) -> bool:
        """Rewrite the database's files; return False while others are using them."""
        try:
            with explained(self._engine):
                dialect_of(self._engine).erase_remains(self._engine)
        except StoreBusy:
            if time.monotonic() > deadline:
                raise
            return False
        return True
