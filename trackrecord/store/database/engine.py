"""The database connection: one engine per process, and what each dialect needs."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import DatabaseError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.pool import ConnectionPoolEntry, StaticPool

from trackrecord.errors import StoreBusy, StoreUnavailable, StoreUnfit
from trackrecord.folders import make_private_folder

if TYPE_CHECKING:
    import psycopg  # of the extra `postgres`


def connect_store(url: str, *, timeout_s: float = 5.0) -> Engine:
    """An engine for the store; connects when it is first used.

    Args:
        url: as `Settings.effective_database_url` gives it.
        timeout_s: how long a statement waits for a lock before StoreBusy.

    Raises:
        StoreUnavailable: the folder of the SQLite database cannot be made.
        StoreUnfit: PostgreSQL's driver is not installed.
    """
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite":
        return _on_a_server(parsed, timeout_s)
    if not parsed.database or parsed.database == ":memory:":
        return _in_memory(parsed)
    _make_private(Path(parsed.database))
    engine = create_engine(parsed, connect_args={"timeout": timeout_s})
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _on_a_server(url: URL, timeout_s: float) -> Engine:
    try:
        engine = create_engine(
            url,
            pool_pre_ping=True,
            pool_size=2,
            connect_args={
                "connect_timeout": max(2, int(timeout_s)),
                # A network that falls silent is noticed after a minute, not after two hours.
                "keepalives_idle": 30,
                "keepalives_interval": 10,
                "keepalives_count": 3,
                "tcp_user_timeout": 60_000,
            },
        )
    except ModuleNotFoundError as error:
        message = (
            f"PostgreSQL needs a driver that is not installed ({error.name}): "
            "pip install 'trackrecord[worker,postgres]'"
        )
        raise StoreUnfit(message) from None
    lock_timeout_ms = int(timeout_s * 1000)

    def set_up(connection: "psycopg.Connection", _entry: ConnectionPoolEntry) -> None:
        # Not as startup parameters: poolers refuse those.
        connection.execute(f"SET lock_timeout = {lock_timeout_ms}")
        connection.execute("SET timezone = 'UTC'")
        connection.commit()

    event.listen(engine, "connect", set_up)
    return engine


def _make_private(database: Path) -> None:
    """Make the folder, and an empty file that SQLite's other files get their mode from."""
    try:
        make_private_folder(database.parent)
    except OSError as error:
        message = f"the folder of the database cannot be made ({error.strerror}: {database.parent})"
        raise StoreUnavailable(message) from error
    if not database.exists():
        with suppress(OSError):  # SQLite will say what is wrong
            database.touch(mode=0o600)


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
    with explained(), engine.connect() as connection, connection.begin():
        yield connection


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """One transaction that writes: commits at the end, rolls everything back on an error.

    Raises:
        StoreUnavailable: the database cannot be reached, or is locked for too long (StoreBusy).
    """
    with explained(), engine.connect() as connection:
        connection = connection.execution_options(writes=True)
        with connection.begin():
            yield connection


@contextmanager
def explained() -> Iterator[None]:
    """Raise what the driver says as an error of ours, if it is about the database as a whole.

    Raises:
        StoreUnavailable: the database cannot be reached, or is locked for too long (StoreBusy).
        StoreUnfit: the user lacks a permission.
    """
    try:
        yield
    except (OperationalError, InterfaceError) as error:
        raise _explanation(error) from error
    except DatabaseError as error:
        # Of no kind: the file is damaged, or is none of SQLite's.
        if type(error) is DatabaseError:
            raise _explanation(error) from error
        if getattr(error.orig, "sqlstate", None) == _LACKS_PERMISSION:
            raise _lacks_permission(error) from error
        raise


POOLED = (
    "between trackrecord and PostgreSQL is a pooler (pgbouncer, for example) that gives each "
    "transaction another session: name PostgreSQL's own port in TRACKRECORD_DATABASE_URL, or set "
    "the pooler to session pooling"
)
# PostgreSQL's code of "insufficient privilege".
_LACKS_PERMISSION = "42501"
_BUSY = ("database is locked", "database table is locked", "lock timeout", "deadlock detected")


def _explanation(error: DBAPIError) -> StoreUnavailable:
    reason = str(error.orig).strip().splitlines()[0] if str(error.orig).strip() else "no answer"
    if any(sign in str(error.orig) for sign in _BUSY):
        return StoreBusy(f"the database is locked by another process ({reason})")
    return StoreUnavailable(
        f"the database cannot be used ({reason}); check TRACKRECORD_DATABASE_URL"
    )


def _lacks_permission(error: DBAPIError) -> StoreUnfit:
    reason = str(error.orig).strip().splitlines()[0]
    remedy = (
        # Since PostgreSQL 15 only a database's owner may create tables in its schema "public".
        "as its owner, run GRANT CREATE ON SCHEMA public TO that user, "
        "or make the user the database's owner"
        if "schema" in reason
        else "grant it to the user of TRACKRECORD_DATABASE_URL, or make the user the owner"
    )
    return StoreUnfit(f"the database refuses its user ({reason}): {remedy}")


def is_sqlite(connection: Connection) -> bool:
    """Whether the connection is one to SQLite."""
    return connection.dialect.name == "sqlite"


def advisory_lock(connection: Connection, key: int) -> None:
    """Serialise with other holders of the key until the transaction ends (PostgreSQL).

    SQLite needs none: a writing transaction is alone already.
    """
    if not is_sqlite(connection):
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": key})
