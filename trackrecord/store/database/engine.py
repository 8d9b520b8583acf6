"""The database connection: one engine per process, whose errors are explained."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from sqlalchemy import Connection, Engine
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DatabaseError, DBAPIError, InterfaceError, OperationalError

from trackrecord.errors import SettingsError, StoreBusy, StoreUnavailable, StoreUnfit

from .dialects import ALL
from .dialects.base import Dialect


def connect_store(url: str, *, timeout_s: float = 5.0, keeps_connections: bool = True) -> Engine:
    """An engine for the store; connects when it is first used.

    Args:
        url: as `DaemonSettings.effective_database_url` gives it.
        timeout_s: how long a statement waits for a lock before StoreBusy.
        keeps_connections: whether a connection is kept for the next transaction.

    Raises:
        SettingsError: the database is of a kind that trackrecord cannot use.
        StoreUnavailable: the folder of the SQLite database cannot be made.
        StoreUnfit: PostgreSQL's driver is not installed.
    """
    parsed = make_url(url)
    return _named(parsed.get_backend_name()).engine(
        parsed, timeout_s, keeps_connections=keeps_connections
    )


def dialect_of(bind: Connection | Engine) -> Dialect:
    """Return the dialect of a connection's database."""
    return _named(bind.dialect.name)


def _named(backend: str) -> Dialect:
    dialect = ALL.get(backend)
    if dialect is None:
        message = (
            f"database_url: {backend} is not a supported database; "
            f"use one of {', '.join(sorted(ALL))}"
        )
        raise SettingsError(message)
    return dialect


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """One transaction that only reads.

    Raises:
        StoreUnavailable: the database cannot be reached, or is locked for too long (StoreBusy).
    """
    with explained(engine), engine.connect() as connection, connection.begin():
        yield connection


# After a wait of the engine's `timeout_s`, before the next one.
_PAUSE_S = 0.01


@contextmanager
def writing(engine: Engine, *, patience_s: float = 0.0) -> Iterator[Connection]:
    """One transaction that writes: commits at the end, rolls everything back on an error.

    Args:
        engine: the store.
        patience_s: for how long the beginning is tried again while others write. SQLite keeps no
            queue: beside a busy worker, one wait of the engine's `timeout_s` is often too short.

    Raises:
        StoreUnavailable: the database cannot be reached, or is locked for too long (StoreBusy).
    """
    with ExitStack() as transaction:
        yield _begin(transaction, engine, patience_s)


def _begin(transaction: ExitStack, engine: Engine, patience_s: float) -> Connection:
    until = time.monotonic() + patience_s
    while True:
        try:
            return transaction.enter_context(_transaction(engine))
        except StoreBusy:
            if time.monotonic() >= until:
                raise
            time.sleep(_PAUSE_S)


@contextmanager
def _transaction(engine: Engine) -> Iterator[Connection]:
    with explained(engine), engine.connect() as connection:
        connection = connection.execution_options(writes=True)
        with connection.begin():
            yield connection


@contextmanager
def explained(engine: Engine) -> Iterator[None]:
    """Raise an error of ours for a driver's error about the database as a whole.

    Raises:
        StoreUnavailable: the database cannot be reached, or is locked for too long (StoreBusy).
        StoreUnfit: the user lacks a permission.
    """
    try:
        yield
    except (OperationalError, InterfaceError) as error:
        raise _explanation(error, engine) from error
    except DatabaseError as error:
        # Of no kind: the file is damaged, or is none of SQLite's.
        sqlstate = getattr(error.orig, "sqlstate", None) or ""
        if type(error) is DatabaseError or sqlstate.startswith(_TRANSACTION_STATE):
            raise _explanation(error, engine) from error
        if sqlstate == _LACKS_PERMISSION:
            raise _lacks_permission(error) from error
        raise


# PostgreSQL's code of "insufficient privilege", and the class of codes of what a transaction may do
# now: a server may only read, or has ended one that was idle. No outcome is to blame for those.
_LACKS_PERMISSION = "42501"
_TRANSACTION_STATE = "25"
_BUSY = ("database is locked", "database table is locked", "lock timeout", "deadlock detected")
# What to do where the reason says so.
_REMEDIES = {
    "disk is full": "make room on its disk",
    "No space left on device": "make room on its disk",
    "unable to open database file": "let this user write to its folder, or set TRACKRECORD_HOME",
    "readonly database": "let this user write to it and to its folder, or set TRACKRECORD_HOME",
}


def _explanation(error: DBAPIError, engine: Engine) -> StoreUnavailable:
    reason = str(error.orig).strip().splitlines()[0] if str(error.orig).strip() else "no answer"
    if any(sign in str(error.orig) for sign in _BUSY):
        return StoreBusy(f"the database is locked by another process ({reason})")
    remedies = (remedy for sign, remedy in _REMEDIES.items() if sign in reason)
    remedy = next(remedies, "check TRACKRECORD_DATABASE_URL")
    explanation = StoreUnavailable(f"the database cannot be used ({reason}); {remedy}")
    if engine.dialect.name == "sqlite":
        # For whoever works on this machine: the text may be told to others.
        explanation.add_note(str(engine.url.database))
    return explanation


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
