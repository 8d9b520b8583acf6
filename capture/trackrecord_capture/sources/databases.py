"""SQLite databases of agents, read without ever writing to them.

Some hold the keys and the accounts of the person beside the sessions. SQLite itself is told which
tables may be read, so that no mistake in an adapter can reach the others.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import msgspec

from trackrecord.process.sqlite_files import connect

from .conversation import Conversation
from .source import Log, ReadRun, Source, Unreadable

_ALLOWED: Final = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_TRANSACTION}
)
_BUSY_S: Final = 2.0


@dataclass(frozen=True, kw_only=True)
class Databases(Source):
    """The databases in which an agent keeps its sessions; a position is the moment of a change.

    Attributes:
        paths_in: yields where databases may lie that belong to a folder.
    """

    paths_in: Callable[[Path], Iterable[Path]]

    def logs(self, places: Sequence[Path]) -> Iterator[Log]:
        """Find databases in folders, or take files as they are named; the oldest first."""
        paths = (
            path
            for place in places
            for path in (self.paths_in(place) if place.is_dir() else (place,))
        )
        logs = (log for path in dict.fromkeys(paths) for log in _database_log(path))
        yield from sorted(logs, key=lambda log: log.version)


@contextmanager
def open_read_only(path: Path, tables: Set[str]) -> Iterator[sqlite3.Connection]:
    """Open a database for reading some of its tables, and for nothing else.

    Raises:
        sqlite3.Error: it cannot be opened.
    """

    def authorize(action: int, table: str | None, _column: str | None, *_more: str | None) -> int:
        if action in _ALLOWED or (action == sqlite3.SQLITE_READ and table in tables):
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY

    address = f"file:{quote(str(path))}?mode=ro"
    # Without its log of changes nobody uses it, and SQLite cannot make one where it may not write.
    if not path.with_name(f"{path.name}-wal").exists():
        address += "&immutable=1"
    with closing(connect(address, uri=True, timeout=_BUSY_S)) as connection:
        connection.set_authorizer(authorize)
        yield connection


def read_sessions(
    log: Log,
    tables: Set[str],
    query: str,
    resume_at: int,
    conversation_of: Callable[[sqlite3.Connection, tuple[Any, ...]], Conversation],
) -> Iterator[ReadRun | Unreadable]:
    """Yield the runs of the sessions in a database that changed at a moment or later.

    Args:
        log: the database.
        tables: those that may be read.
        query: yields the sessions from a moment on, each with its last change at the end.
        resume_at: the moment.
        conversation_of: reads a session by its row.
    """
    try:
        with open_read_only(log.path, tables) as connection:
            rows = connection.execute(query, (resume_at,)).fetchall()
            for number, row in enumerate(rows, 1):
                position = log.size * number // len(rows)
                for each in conversation_of(connection, row).rest(position):
                    yield msgspec.structs.replace(each, resume_at=int(row[-1]))
    except sqlite3.Error as error:
        yield Unreadable(place="the database", reason=str(error))


def _database_log(path: Path) -> Iterator[Log]:
    """Yield a database as a log, with what has not been merged into it yet; nothing if it is away.

    Its version is the time of the last change.
    """
    try:
        facts = [path.stat()]
    except OSError:
        return
    with suppress(OSError):
        facts.append(path.with_name(f"{path.name}-wal").stat())
    size = sum(each.st_size for each in facts)
    yield Log(path=path, size=size, version=max(each.st_mtime_ns for each in facts))
