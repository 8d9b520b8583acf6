"""The position up to which each log has been read, and the commits of runs.

A small SQLite file in the home. Two processes may use it at once: every change is a transaction of
its own, and each row stands for itself. Losing the file loses nothing but time: everything is read
again, and every outcome keeps its id.
"""

import hashlib
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple, Self

from trackrecord.errors import StoreUnfit
from trackrecord.process.folders import make_private_folder
from trackrecord.process.sqlite_files import connect, use_write_ahead_log

from ..agent_run import AgentRun
from ..sources.source import Log

FILE_NAME: Final = "capture.db"
_BUSY_S: Final = 30.0
_SHORT: Final = 7
_IDENTITY_BYTES: Final = 128
# A repository is asked about the last commits of runs, and so many are asked at once.
_MOST_COMMITS: Final = 300
_MOST_REPOSITORIES: Final = 100
_RUN: Final = "hash, project, outcome_id, source, task_id, session, ended_at, tree"
# The header of a database counts its changes.
_CHANGES_AT_START: Final = b"SQLite format 3\0"
_SCHEMA: Final = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")


class LogPlace(NamedTuple):
    """The position up to which a log has been read.

    Attributes:
        version: the log's version when it was read.
        resume_at: where to go on.
        goes_on_since: the last sign of life of a run in it that was not over; None if all were.
    """

    version: int
    resume_at: int
    goes_on_since: float | None = None


class RunOfCommit(NamedTuple):
    """The run that made a commit, as far as an amendment names it.

    `tree` is the main working tree of the repository; "" if that is unknown.
    """

    hash: str
    project: str
    outcome_id: str
    source: str
    task_id: str
    session: str
    ended_at: float
    tree: str = ""


class CaptureState:
    """The state of the capture in a home; close it, or use it in a `with` statement.

    Args:
        home: the home; made if it is missing.

    Raises:
        OSError: the home cannot be made.
        StoreUnfit: the file cannot be used; so do all methods that use it.
    """

    def __init__(self, home: Path) -> None:
        make_private_folder(home)
        self._path = home / FILE_NAME
        # For its owner alone: it names folders and commits.
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
        with self._usable():
            self._connection = connect(self._path, timeout=_BUSY_S, isolation_level=None)
            use_write_ahead_log(self._connection)
            self._connection.execute("PRAGMA synchronous=normal")
            self._connection.executescript(_SCHEMA)

    def place_of(self, source: str, log: Log) -> LogPlace | None:
        """Return how far a log has been read; None if it is new or was replaced.

        Raises:
            OSError: the log cannot be read.
        """
        with self._usable():
            row = self._connection.execute(
                "SELECT version, resume_at, goes_on_since, identity, stamp FROM log "
                "WHERE path = ? AND source = ?",
                (str(log.path), source),
            ).fetchone()
        if row is None:
            return None
        identity, stamp = row[3:]
        is_same = log.stamp and log.stamp == stamp
        # Of as many bytes as it was made of: a short log has grown since.
        if not is_same and identity != _identity(log.path, int(identity.split(":")[2])):
            return None
        return LogPlace(*row[:3])

    def keep_place(self, source: str, log: Log, place: LogPlace) -> None:
        """Remember how far a log has been read; what came before must have been published.

        Raises:
            OSError: the log cannot be read.
        """
        with self._writing():
            self._connection.execute(
                "INSERT OR REPLACE INTO log VALUES (?, ?, ?, ?, ?, ?, ?)",
                (str(log.path), source, _identity(log.path), *place, log.stamp),
            )

    def told_as(self, source: str, run: AgentRun) -> str:
        """Return the outcome_id under which a run counts; "" if a copy of it says as much or more.

        Sessions are forked, resumed and copied with all that stands in them. Such a run counts
        once, whatever order its copies are read in: as the one that tells most, and of equal ones
        as the one that is no copy. It keeps the outcome_id under which it was told first.
        """
        told = own = run.outcome_id
        if not run.record:
            return own
        key = source, hashlib.blake2b(run.record.encode(errors="replace"), digest_size=16).digest()
        now = own, run.ended_at, run.is_copy
        with self._usable():
            known = self._connection.execute(
                "SELECT outcome_id, holder, ended_at, is_copy FROM record "
                "WHERE source = ? AND record = ?",
                key,
            ).fetchone()
        if known is not None:
            holder, ended_at, is_copy = known[1:]
            told = str(known[0])
            if (holder, ended_at, is_copy) == now:
                return told
            if holder != own and (run.ended_at, not run.is_copy) <= (ended_at, not is_copy):
                return ""
        with self._writing():
            self._connection.execute(
                "INSERT OR REPLACE INTO record VALUES (?, ?, ?, ?, ?, ?)", (*key, told, *now)
            )
        return told

    def note_made(self, runs: list[RunOfCommit]) -> None:
        """Remember which run made which commit."""
        with self._writing():
            self._connection.executemany(
                "INSERT OR REPLACE INTO made VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [(run.hash[:_SHORT], *run) for run in runs],
            )

    def repositories(self) -> list[tuple[str, str]]:
        """Return the repositories in which runs made commits, the last ones first.

        Each is a main working tree and the digest of the state in which it was read; "" if never.
        """
        with self._usable():
            return self._connection.execute(
                "SELECT made.tree, coalesce(digest, '') FROM made LEFT JOIN repository "
                "USING (tree) WHERE made.tree != '' GROUP BY made.tree "
                "ORDER BY max(ended_at) DESC LIMIT ?",
                (_MOST_REPOSITORIES,),
            ).fetchall()

    def keep_repository(self, tree: str, digest: str) -> None:
        """Remember in which state a repository was read; what it said must have been published."""
        with self._writing():
            self._connection.execute(
                "INSERT OR REPLACE INTO repository VALUES (?, ?)", (tree, digest)
            )

    def made_in(self, tree: str) -> list[RunOfCommit]:
        """Return which runs made commits in a repository: the last commits, the newest first."""
        with self._usable():
            rows = self._connection.execute(
                f"SELECT {_RUN} FROM made WHERE tree = ? ORDER BY ended_at DESC, hash LIMIT ?",  # noqa: S608 - of the names above
                (tree, _MOST_COMMITS),
            ).fetchall()
        return [RunOfCommit(*row) for row in rows]

    def said_of(self, project: str, outcome_id: str) -> str:
        """Return what was published last of a run because of its commits; "" if nothing was."""
        with self._usable():
            row = self._connection.execute(
                "SELECT says FROM said WHERE project = ? AND outcome_id = ?", (project, outcome_id)
            ).fetchone()
        return row[0] if row is not None else ""

    def note_said(self, said: list[tuple[str, str, str]]) -> None:
        """Remember what was published of runs: a project, an outcome's id and the words of each."""
        with self._writing():
            self._connection.executemany("INSERT OR REPLACE INTO said VALUES (?, ?, ?)", said)

    def forget(self, project: str, outcome_ids: Iterable[str] | None = None) -> None:
        """Forget the commits of runs in a project, or of all; deleted content is overwritten."""
        named = [(project, each) for each in outcome_ids or ()]
        self._connection.execute("PRAGMA secure_delete = ON")
        with self._writing():
            for table in ("made", "said"):
                delete = f"DELETE FROM {table} WHERE project = ?"  # noqa: S608 - of the tuple
                if outcome_ids is None:
                    self._connection.execute(delete, (project,))
                else:
                    self._connection.executemany(f"{delete} AND outcome_id = ?", named)
            orphans = "DELETE FROM repository WHERE tree NOT IN (SELECT tree FROM made)"
            self._connection.execute(orphans)
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._usable():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                # A full disk has ended the transaction already.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _usable(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            message = (
                f"{self._path} cannot be used ({error}): make room for it, or move it away; "
                "sessions are then read again"
            )
            raise StoreUnfit(message) from None

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def forget_positions(home: Path) -> None:
    """Let all logs be read again: the store may lack what was read from them."""
    for end in ("", "-journal", "-wal", "-shm"):
        (home / f"{FILE_NAME}{end}").unlink(missing_ok=True)


def _identity(path: Path, length: int = _IDENTITY_BYTES) -> str:
    """Return what distinguishes a log from a later one of the same name.

    Args:
        path: the log.
        length: how many of its first bytes count.

    Raises:
        OSError: the log cannot be read.
    """
    with path.open("rb") as file:
        facts = os.fstat(file.fileno())
        beginning = file.read(length)
    if beginning.startswith(_CHANGES_AT_START):
        beginning = _CHANGES_AT_START
    digest = hashlib.blake2b(beginning, digest_size=8).hexdigest()
    return f"{facts.st_dev}:{facts.st_ino}:{len(beginning)}:{digest}"
