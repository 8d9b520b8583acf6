"""SQLite databases of agents, read without ever writing to them.

Some hold the keys and the accounts of the person beside the sessions. SQLite itself is told which
tables may be read, so that no mistake in an adapter can reach the others.
"""

import sqlite3
from collections.abc import Iterator, Set
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote

from trackrecord.process.sqlite_files import connect

from .source import Log

_ALLOWED: Final = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_TRANSACTION}
)
_BUSY_S: Final = 2.0


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


def database_log(path: Path) -> Iterator[Log]:
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
