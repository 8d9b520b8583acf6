"""Data of the capture about a subject: commits of its runs, and traces of its outcomes.

Where each log has been read up to is kept: else it would be read again. Its outcomes would be
recognised as forgotten then, too.
"""

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import msgspec

from trackrecord.errors import StoreUnfit
from trackrecord.process.sqlite_files import connect
from trackrecord.settings.projects.project_claims import ProjectClaims
from trackrecord.wire.subject import Subject

from ..agents.runtime import TOLD, runtime_folder
from ..history.state import FILE_NAME
from ..live.session_marks import SessionMark
from ..otlp.traces.trace_status import traces_file
from ..otlp.traces.trace_store import TraceOutcome

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
        path = self._home / FILE_NAME
        if not path.is_file():
            return
        subject = self._subject
        ids = [(subject.project, each) for each in sorted(self._outcomes)]
        with _opened(path, "rw") as database:
            for table in ("made", "reverted", "said"):
                delete = f"DELETE FROM {table} WHERE project = ?"  # noqa: S608 - as above
                if subject.what == "project":
                    database.execute(delete, (subject.project,))
                else:
                    database.executemany(f"{delete} AND outcome_id = ?", ids)
            database.execute("DELETE FROM repository WHERE tree NOT IN (SELECT tree FROM made)")

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
