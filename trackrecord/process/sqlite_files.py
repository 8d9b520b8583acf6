"""Opening a file of SQLite: its schema is data, and runs nothing."""

import sqlite3
import time
from os import PathLike
from typing import Any, Final

_PAUSE_S: Final = 0.01
# The rest of an error's code says more than its kind.
_PRIMARY: Final = 0xFF


def connect(database: str | PathLike[str], **options: Any) -> sqlite3.Connection:  # noqa: ANN401 - the driver's own
    """Return a connection, as the driver makes it, that trusts no schema."""
    connection: sqlite3.Connection = sqlite3.connect(database, **options)
    distrust_schema(connection)
    return connection


def distrust_schema(connection: sqlite3.Connection) -> None:
    """Keep a schema from calling functions and virtual tables that do harm."""
    connection.execute("PRAGMA trusted_schema=OFF").close()


def use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Let readers of a file go on beside a writer.

    SQLite refuses all but one of those that open a new file at once, however long they would wait.

    Raises:
        sqlite3.OperationalError: the file cannot be written, or is locked for longer than the
            connection waits for locks.
    """
    (patience_ms,) = connection.execute("PRAGMA busy_timeout").fetchone()
    until = time.monotonic() + patience_ms / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL").close()
        except sqlite3.OperationalError as error:
            is_locked = error.sqlite_errorcode & _PRIMARY == sqlite3.SQLITE_BUSY
            if not is_locked or time.monotonic() > until:
                raise
            time.sleep(_PAUSE_S)
        else:
            return
