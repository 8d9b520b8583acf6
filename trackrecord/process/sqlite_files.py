"""Opening a file of SQLite: its schema is data, and runs nothing."""

import sqlite3
from os import PathLike
from typing import Any


def connect(database: str | PathLike[str], **options: Any) -> sqlite3.Connection:  # noqa: ANN401 - the driver's own
    """Return a connection, as the driver makes it, that trusts no schema."""
    connection: sqlite3.Connection = sqlite3.connect(database, **options)
    distrust_schema(connection)
    return connection


def distrust_schema(connection: sqlite3.Connection) -> None:
    """Keep a schema from calling functions and virtual tables that do harm."""
    connection.execute("PRAGMA trusted_schema=OFF").close()
