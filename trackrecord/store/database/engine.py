"""The database connection: one engine per process, and what each dialect needs."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import DatabaseError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.pool import ConnectionPoolEntry, StaticPool

from trackrecord.errors import StoreBusy, StoreUnavailable


def connect_store(url: str, *, timeout_s: float = 5.0) -> Engine:
    """An engine for the store; connects when it is first used.

    Args:
        url: as `Settings.effective_database_url` gives it.
        timeout_s: how long a statement waits for a lock before StoreBusy.

    Raises:
        StoreUnavailable: the folder of the SQLite database cannot be made.
    """
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite":
        milliseconds = int(timeout_s * 1000)
        return create_engine(
            parsed,
            pool_pre_ping=True,
            pool_size=2,
            connect_args={
                "connect_timeout": max(2, int(timeout_s)),
                "options": f"-c lock_timeout={milliseconds} -c timezone=UTC",
                # A network that falls silent is noticed after a minute, not after two hours.
                "keepalives_idle": 30,
                "keepalives_interval": 10,
                "keepalives_count": 3,
                "tcp_user_timeout": 60_000,
            },
        )
    if not parsed.database or parsed.database == ":memory:":
        return _in_memory(parsed)
    _make_folder(Path(parsed.database).parent)
    engine = create_engine(parsed, connect_args={"timeout": timeout_s})
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"the folder of the database cannot be made ({error.strerror}: {folder})"
        raise StoreUnavailable(message) from error


def _in_memory(url: URL) -> Engine:
    """A store of this process alone, for tests: one connection that all share, gone at dispose.

    One transaction at a time: a second one, in another thread too, would be inside the first.
    """
    engine = create_engine(url, poolclass=StaticPool, connect_args={"check_same_thread": False})
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _set_up_sqlite(connection: sqlite3.Connection, _entry: ConnectionPoolEntry) -> None:
    # The driver's own BEGIN comes too late (before the first write, not the first read).
    connection.isolation_level = None
    cursor = connection.cursor()
    # Of a new file only. Outcomes have some hundred bytes: in pages of four times the usual size
    # a batch touches fewer of them, and is on record in four fifths of the time.
    cursor.execute("PRAGMA page_size=16384")
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.execute("PRAGMA cache_size=-16384")
    cursor.execute("PRAGMA temp_store=MEMORY")
    try:
        cursor.execute("SELECT power(2.0, -1.0)")
    except sqlite3.OperationalError:  # built without its mathematical functions
        connection.create_function("power", 2, pow, deterministic=True)
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    # A transaction that will write takes the write lock first: a reader that turns into a writer
    # is refused at once, whatever the timeout.
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """One transaction that only reads.

    Raises:
        StoreUnavailable: the database cannot be reached, or is locked for too long (StoreBusy).
    """
    with _explained(), engine.connect() as connection, connection.begin():
        yield connection


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """One transaction that writes: commits at the end, rolls everything back on an error.

    Raises:
        StoreUnavailable: the database cannot be reached, or is locked for too long (StoreBusy).
    """
    with _explained(), engine.connect() as connection:
        connection = connection.execution_options(writes=True)
        with connection.begin():
            yield connection


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except (OperationalError, InterfaceError) as error:
        raise _explanation(error) from error
    except DatabaseError as error:
        # Of no kind: the file is damaged, or is none of SQLite's.
        if type(error) is not DatabaseError:
            raise
        raise _explanation(error) from error


_BUSY = ("database is locked", "database table is locked", "lock timeout", "deadlock detected")


def _explanation(error: DBAPIError) -> StoreUnavailable:
    reason = str(error.orig).strip().splitlines()[0] if str(error.orig).strip() else "no answer"
    if any(sign in str(error.orig) for sign in _BUSY):
        return StoreBusy(f"the database is locked by another process ({reason})")
    return StoreUnavailable(
        f"the database cannot be used ({reason}); check TRACKRECORD_DATABASE_URL"
    )


def is_sqlite(connection: Connection) -> bool:
    """Whether the connection is one to SQLite."""
    return connection.dialect.name == "sqlite"


def advisory_lock(connection: Connection, key: int) -> None:
    """Serialise with other holders of the key until the transaction ends (PostgreSQL).

    SQLite needs none: a writing transaction is alone already.
    """
    if not is_sqlite(connection):
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": key})
