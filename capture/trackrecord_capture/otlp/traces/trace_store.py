"""The traces on disk: a SQLite file, so that they survive the end of the process.

A transaction that is committed survives `kill -9`; it need not survive a power cut, as the spool
of outcomes need not. The file cannot grow beyond its bound, and reuses the room of what it forgot.
"""

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

from trackrecord.process.folders import make_private_folder
from trackrecord.process.sqlite_files import connect, use_write_ahead_log

from ..facts.fact import Fact
from ..runs.runs import TraceScore
from ..runs.scores import ReportedScore

_VERSION: Final = 1
_PAGE_BYTES: Final = 4096
# Those of a trace.
_COLUMNS: Final = 6
_MOST_OF_SESSION: Final = 20
_BUSY_S: Final = 5.0
# Room for bookkeeping when spans have taken all of theirs.
_RESERVED_PAGES: Final = 256
_SCHEMA: Final = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")

_encode = msgspec.msgpack.Encoder().encode
_decode_fact = msgspec.msgpack.Decoder(Fact).decode
_decode_score = msgspec.msgpack.Decoder(TraceScore).decode


class NoRoom(Exception):
    """Raised when the file has reached its bound, or the disk is full."""


class WaitingTrace(msgspec.Struct):
    """The state of a trace, its stored columns first.

    Attributes:
        trace: its id.
        first_at: when its first span came; seconds since the epoch.
        last_at: when its last span came.
        has_ended: whether its root came.
        bytes: how large it is.
        is_published: whether everything that came was published.
        is_pressed: whether it is to be published as it is, for want of room or for a score; this
            and the next one are not stored.
        version: grows with everything that comes.
    """

    trace: str
    first_at: float
    last_at: float
    has_ended: bool = False
    bytes: int = 0
    is_published: bool = False
    is_pressed: bool = False
    version: int = 0


class TraceOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """An outcome of a trace: enough to amend it, and nothing of its content.

    Attributes:
        outcome_id: its id.
        project: its project; None for the publisher's own.
        task_id: its task.
        session: the session.
        started_at: when the run began; seconds since the epoch.
        spans: the spans that it was made of.
        tools: the spans among them that are calls of tools.
    """

    outcome_id: str
    project: str | None
    task_id: str
    session: str
    started_at: float
    spans: frozenset[str]
    tools: frozenset[str]


_decode_known = msgspec.msgpack.Decoder(TraceOutcome).decode


def encode_fact(fact: Fact) -> bytes:
    """Return a fact as it is stored."""
    return _encode(fact)


class TraceStore:
    """Open the file, or make it. One process at a time may write; several threads may not at once.

    Args:
        path: the file; its folder is made for its owner alone.
        max_bytes: the size that it may reach.

    Raises:
        OSError: the folder cannot be made.
        sqlite3.Error: the file cannot be opened.
    """

    def __init__(self, path: Path, max_bytes: int) -> None:
        make_private_folder(path.parent)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        self._database = connect(
            path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
        )
        use_write_ahead_log(self._database)
        run = self._database.execute
        run("PRAGMA synchronous = OFF")
        run("PRAGMA cache_size = -16384")
        run("PRAGMA journal_size_limit = 16777216")
        if run("PRAGMA user_version").fetchone()[0] != _VERSION:
            self._database.executescript(_SCHEMA + f"PRAGMA user_version = {_VERSION};")
        self._pages = max(max_bytes // _PAGE_BYTES, _RESERVED_PAGES)
        self._allow(0)

    def _allow(self, more: int) -> None:
        self._database.execute(f"PRAGMA max_page_count = {self._pages + more}")

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    @contextmanager
    def writing(self, *, spans: bool = False) -> Iterator[None]:
        """Write everything in it or nothing.

        Args:
            spans: whether spans are written: bookkeeping has a little more room than they have.

        Raises:
            NoRoom: the file or the disk is full.
        """
        self._allow(0 if spans else _RESERVED_PAGES)
        try:
            self._database.execute("BEGIN IMMEDIATE")
            yield
            self._database.execute("COMMIT")
        except sqlite3.OperationalError as error:
            self._undo()
            raise NoRoom(str(error)) from error
        except BaseException:
            self._undo()
            raise

    def _undo(self) -> None:
        if self._database.in_transaction:
            self._database.execute("ROLLBACK")

    def add_facts(self, facts: Iterable[tuple[str, str, bytes]]) -> None:
        """Add facts, as trace, span and content; the same span again replaces itself."""
        self._database.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?, ?)", facts)

    def put_traces(self, traces: Iterable[WaitingTrace]) -> None:
        """Store the state of traces."""
        self._database.executemany(
            "INSERT OR REPLACE INTO traces VALUES (?, ?, ?, ?, ?, ?)",
            (msgspec.structs.astuple(each)[:_COLUMNS] for each in traces),
        )

    def traces(self) -> list[WaitingTrace]:
        """Return all traces that are kept, the longest silent first."""
        rows = self._database.execute("SELECT * FROM traces ORDER BY last_at")
        return [WaitingTrace(*row) for row in rows]

    def facts_of(self, trace: str) -> list[Fact]:
        """Return the facts of a trace."""
        rows = self._database.execute("SELECT fact FROM facts WHERE trace = ?", (trace,))
        return [_decode_fact(fact) for (fact,) in rows]

    def move_facts(self, trace: str, earlier: WaitingTrace) -> None:
        """Make a trace a part of an earlier one."""
        for table in ("facts", "scores"):
            self._database.execute(
                f"UPDATE OR REPLACE {table} SET trace = ? WHERE trace = ?",  # noqa: S608 - of the tuple above
                (earlier.trace, trace),
            )
        self.put_traces([earlier])
        self._database.execute("DELETE FROM traces WHERE trace = ?", (trace,))

    def forget(self, traces: Sequence[str]) -> None:
        """Delete traces with their facts and scores; their outcomes stay known."""
        one = [(trace,) for trace in traces]
        for table in ("facts", "traces", "scores"):
            self._database.executemany(f"DELETE FROM {table} WHERE trace = ?", one)  # noqa: S608 - of the tuple above

    def forget_spans(self, trace: str) -> None:
        """Delete a trace and keep the scores that wait for it: its agent may still come."""
        for table in ("facts", "traces"):
            self._database.execute(f"DELETE FROM {table} WHERE trace = ?", (trace,))  # noqa: S608 - as above

    def add_score(self, given: ReportedScore, at: float) -> None:
        """Add a score that came on its own; the same score again replaces itself."""
        self._database.execute(
            "INSERT OR REPLACE INTO scores VALUES (?, ?, ?, ?, ?)",
            (given.id, given.trace, given.session, _encode(given.score), at),
        )

    def scored(self) -> list[tuple[str, str]]:
        """Return the traces and the sessions for which scores wait."""
        return list(self._database.execute("SELECT DISTINCT trace, session FROM scores"))

    def forget_scores(self, ids: Sequence[str]) -> None:
        """Delete scores."""
        self._database.executemany("DELETE FROM scores WHERE id = ?", [(each,) for each in ids])

    def scores_of(self, trace: str) -> list[TraceScore]:
        """Return the scores that wait for a trace or belong to it, in the order they came in."""
        rows = self._database.execute(
            "SELECT score FROM scores WHERE trace = ? AND trace != '' ORDER BY at, id", (trace,)
        )
        return [_decode_score(score) for (score,) in rows]

    def scores_by_id(self, trace: str, session: str) -> list[tuple[str, TraceScore]]:
        """Return the scores of a trace, or else of a whole session, with their ids."""
        rows = self._database.execute(
            "SELECT id, score FROM scores WHERE trace = ? AND session = ? ORDER BY at, id",
            (trace, session),
        )
        return [(score_id, _decode_score(score)) for score_id, score in rows]

    def put_outcome(self, trace: str, known: TraceOutcome, at: float) -> None:
        """Store an outcome of a trace."""
        self._database.execute(
            "INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?, ?, ?)",
            (trace, known.outcome_id, known.session, at, _encode(known)),
        )

    def outcomes_of(self, trace: str) -> list[TraceOutcome]:
        """Return the outcomes of a trace."""
        rows = self._database.execute("SELECT known FROM outcomes WHERE trace = ?", (trace,))
        return [_decode_known(known) for (known,) in rows]

    def outcomes_of_session(self, session: str) -> list[TraceOutcome]:
        """Return the outcomes of a session's traces, the latest first."""
        rows = self._database.execute(
            "SELECT known FROM outcomes WHERE session = ? ORDER BY at DESC LIMIT ?",
            (session, _MOST_OF_SESSION),
        )
        return [_decode_known(known) for (known,) in rows]

    def trace_of_session(self, session: str) -> str:
        """Return the trace of a session that became an outcome last; "" if none did."""
        row = self._database.execute(
            "SELECT trace FROM outcomes WHERE session = ? ORDER BY at DESC LIMIT 1", (session,)
        ).fetchone()
        return row[0] if row else ""

    def forget_before(self, at: float, *, most: int) -> int:
        """Forget outcomes and waiting scores of before a moment; return how many scores waited."""
        self._database.execute("DELETE FROM outcomes WHERE at < ?", (at,))
        self._database.execute(
            "DELETE FROM outcomes WHERE at <= "
            "(SELECT at FROM outcomes ORDER BY at DESC LIMIT 1 OFFSET ?)",
            (most,),
        )
        return self._database.execute("DELETE FROM scores WHERE at < ?", (at,)).rowcount

    def count(self, reason: str, number: int = 1) -> None:
        """Count something that did not become an outcome."""
        self._database.execute(
            "INSERT INTO counts VALUES (?, ?) "
            "ON CONFLICT (reason) DO UPDATE SET count = count + excluded.count",
            (reason, number),
        )

    def counts(self) -> dict[str, int]:
        """Return the counts, by reason."""
        return dict(self._database.execute("SELECT reason, count FROM counts ORDER BY reason"))
