"""Forgetting, from the outside in: unlearnt bodies, the store, and the caches.

Whatever kills it in between, the same again finishes: it goes by what is there. The store forgets
in one transaction, together with marks of all ids that were found, so that nothing comes back.

Data of the capture about a subject: commits of its runs, and traces of its outcomes.

Where each log has been read up to is kept: else it would be read again. Its outcomes would be
recognised as forgotten then, too.
"""

import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec
import redis
from sqlalchemy import Engine

from trackrecord.artifacts.output_records import OutputRecords
from trackrecord.artifacts.store import FOLDER
from trackrecord.errors import StoreBusy, StoreUnavailable, StoreUnfit
from trackrecord.process.folders import folder_name
from trackrecord.process.sqlite_files import connect
from trackrecord.resources.declaration.resource import Answer
from trackrecord.resources.reports.subjects import unknown_subject
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.settings.projects.project_claims import ProjectClaims
from trackrecord.store.advice.benchmark_history import BenchmarkHistory
from trackrecord.store.database.engine import dialect_of, explained, reading
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.store.patterns.process_rates import read_snapshot
from trackrecord.wire.subject import Subject
from trackrecord_consolidation.forget import (
    InStore,
    check_turn,
    find_in_store,
    finish,
    forget_in_store,
)
from trackrecord_producers.spool.forgetting import InSpool, find_in_spool, forget_in_spool

from ..agents.runtime import TOLD, runtime_folder
from ..history.state import FILE_NAME, CaptureState
from ..live.session_marks import SessionMark
from ..otlp.traces.trace_status import traces_file
from ..otlp.traces.trace_store import TraceOutcome
from .in_redis import ForgetScope, InRedis, RedisPlace

_BUSY_S: Final = 30.0
_known = msgspec.msgpack.Decoder(TraceOutcome)
_told = msgspec.json.Decoder(SessionMark)


class CapturedPlace:
    """Finds and forgets captured data.

    Args:
        home: trackrecord's home.
        subject: what is to be forgotten.
        outcomes: the ids of its outcomes, where these are known.
        default_project: the project of traces that name none.
    """

    def __init__(
        self, home: Path, subject: Subject, outcomes: Collection[str], default_project: str
    ) -> None:
        self._home = home
        self._subject = subject
        self._outcomes = frozenset(outcomes)
        self._default = default_project

    def traces(self) -> list[str]:
        """Return the traces that became outcomes of the subject; nothing is changed."""
        path = traces_file(self._home)
        if not path.is_file():
            return []
        with _opened(path, "ro") as database:
            rows = database.execute("SELECT trace, known FROM outcomes").fetchall()
        return sorted({trace for trace, known in rows if self._is_its(_known.decode(known))})

    def _is_its(self, known: TraceOutcome) -> bool:
        subject = self._subject
        if (known.project or self._default) != subject.project:
            return False
        if subject.what == "project" or known.outcome_id in self._outcomes:
            return True
        return subject.what == "task" and known.task_id == subject.name

    def forget(self, traces: Collection[str]) -> None:
        """Delete a project's traces, commits of runs, texts of sessions, and folders.

        Raises:
            StoreUnfit: a file cannot be used.
        """
        if traces:
            with _opened(traces_file(self._home), "rw") as database:
                for table in ("facts", "traces", "scores", "outcomes"):
                    database.executemany(
                        f"DELETE FROM {table} WHERE trace = ?",  # noqa: S608 - of the tuple above
                        [(each,) for each in traces],
                    )
        self._forget_commits()
        self._forget_session_texts()
        if self._subject.what == "project":
            ProjectClaims(self._home).forget(self._subject.project)

    def _forget_commits(self) -> None:
        if (self._home / FILE_NAME).is_file():
            is_whole = self._subject.what == "project"
            with CaptureState(self._home) as state:
                state.forget(self._subject.project, None if is_whole else self._outcomes)

    def _forget_session_texts(self) -> None:
        """Delete the texts that sessions were given, but keep the marks that they were."""
        folder = runtime_folder(self._home) / TOLD
        if not folder.is_dir():
            return
        for path in folder.iterdir():
            try:
                told = _told.decode(path.read_bytes())
            except (OSError, msgspec.DecodeError):
                continue
            if told.text:
                path.write_bytes(msgspec.json.encode(SessionMark()))


@contextmanager
def _opened(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    """Open a file; deleted content is overwritten."""
    try:
        uri = f"{path.as_uri()}?mode={mode}"
        with closing(connect(uri, uri=True, timeout=_BUSY_S)) as database:
            database.execute("PRAGMA secure_delete = ON")
            with database:
                yield database
            if mode == "rw":
                database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error as error:
        message = f"{path} cannot be used ({error}): move it away, or try again later"
        raise StoreUnfit(message) from None


class DiskPlace:
    """Find and forget a subject's files.

    Args:
        settings: where the home is, and the rules.
        goes: what is to be forgotten.
        warn: is called with one line about a history that was set aside.
    """

    def __init__(
        self, settings: DaemonSettings, goes: ForgetScope, warn: Callable[[str], None]
    ) -> None:
        self._settings = settings
        self._goes = goes
        self._warn = warn

    def artifacts(self) -> int:
        """Return how many artifacts would be deleted; nothing is changed.

        Of a source or a task, those that no other task stored, too.
        """
        if self._goes.subject.what != "project":
            return len(self._of_tasks_alone())
        folder = self._artifacts_folder()
        with suppress(FileNotFoundError, NotADirectoryError):
            return sum(not each.name.startswith(".") for each in os.scandir(folder))
        return 0

    def _of_tasks_alone(self) -> set[str]:
        if not self._goes.tasks:
            return set()
        outputs = self._outputs().all()
        others = {each.id for each in outputs if each.task_id not in self._goes.tasks}
        return {each.id for each in outputs} - others

    def _outputs(self) -> OutputRecords:
        settings, project = self._settings, self._goes.subject.project
        return OutputRecords(settings.home, project, retention_s=settings.artifacts.retention_s)

    def _artifacts_folder(self) -> Path:
        return self._settings.home / FOLDER / folder_name(self._goes.subject.project)

    def forget_artifacts(self) -> None:
        """Delete the artifacts.

        Raises:
            OSError: something cannot be deleted.
        """
        if self._goes.subject.what == "project":
            with suppress(FileNotFoundError):
                shutil.rmtree(self._artifacts_folder())
            return
        outputs = self._outputs()
        for task_id in self._goes.tasks:
            outputs.forget_task(task_id)

    def benchmark_runs(self) -> int:
        """Return how many runs of the benchmark are kept of the project."""
        return len(self._history().snapshots())

    def _history(self) -> BenchmarkHistory:
        project = self._goes.subject.project
        return BenchmarkHistory(self._settings.home, project, warn=self._warn)

    def renew_benchmark(self, engine: Engine) -> None:
        """Recompute the runs of the benchmark from the remaining data, or delete all of them.

        Raises:
            AlreadyRunning: another process has been at the history for too long.
            OSError: the history cannot be written.
        """
        history = self._history()
        if self._goes.subject.what == "project":
            history.erase()
            return
        rules = self._settings.rules
        with reading(engine) as connection:
            project_id = project_id_of(connection, self._goes.subject.project)
            history.rewrite(
                lambda run: read_snapshot(
                    connection, project_id, rules, now=run.at, since=run.since
                )
            )


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
