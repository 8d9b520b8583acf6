"""The store of this process: set up when a call first needs it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Final

from trackrecord.errors import ExtraMissing, InvalidRequest, StoreUnavailable
from trackrecord.forking import not_while_forking
from trackrecord.project_names import checked_project
from trackrecord.scoped import Scoped

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from trackrecord.daemon_settings import DaemonSettings


@dataclass(frozen=True)
class StoreHere:
    """What a call works with.

    Attributes:
        engine: the store, migrated.
        settings: those of this process.
        project: the project that was named or else is set.
    """

    engine: Engine
    settings: DaemonSettings
    project: str


class NoStore:
    """Stands for the store in a test that gives none."""


_NEEDED: Final = (
    "changes.memories", "changes.patterns", "daemon_settings", "queries.competences",
    "queries.explain", "queries.lessons", "queries.runs", "store.database.migrate",
)  # fmt: skip

# What a test gives in place of the store that the settings name.
given_stores: Final = Scoped[StoreHere | NoStore]("trackrecord_given_store")

# What a server has open, for the calls that it makes to answer one question.
_servers_store: Final = ContextVar[StoreHere | None]("trackrecord_servers_store", default=None)


@contextmanager
def calls_use(store: StoreHere) -> Iterator[None]:
    """Let the calls that this thread makes in the block use a store that a server keeps open."""
    token = _servers_store.set(store)
    try:
        yield
    finally:
        _servers_store.reset(token)


@contextmanager
def store_here(project: str | None) -> Iterator[StoreHere]:
    """Open the store of this process's settings, or the one that a server or a test gives.

    Args:
        project: the project that the caller named; the settings' project when None.

    Raises:
        InvalidRequest: no project can have this name.
        SettingsError: a setting is wrong.
        ExtraMissing: a package is missing that the base package does not install.
        ServerUnavailable: the database cannot be reached.
    """
    named = None if project is None else _checked(project)
    with imported():
        here = _servers_store.get() or given_stores.get() or _opened()
    if isinstance(here, NoStore):
        message = (
            "this test gives the calls no store: open trackrecord.testing.store_of() around it"
        )
        raise StoreUnavailable(message)
    yield replace(here, project=named or here.project)


@contextmanager
def reading_here(project: str | None) -> Iterator[tuple[Connection, StoreHere]]:
    """Open a reading transaction in the store; see `store_here`.

    Raises:
        TrackrecordError: as `store_here` does; or the database cannot be reached.
    """
    with store_here(project) as here:
        from trackrecord.store.database.engine import reading

        with reading(here.engine) as connection:
            yield connection, here


def _checked(project: str) -> str:
    try:
        return checked_project(project)
    except ValueError as error:
        raise InvalidRequest(str(error)) from None


@lru_cache(maxsize=1)
def _import_all(_pid: int) -> None:
    """Import what the calls need, once: a child forked in the middle of it could never finish."""
    with not_while_forking():
        for name in _NEEDED:
            import_module(f"trackrecord.{name}")


def _opened() -> StoreHere:
    from trackrecord.daemon_settings import load_daemon_settings

    settings = load_daemon_settings()
    engine = _engine(os.getpid(), settings.effective_database_url, settings.database_timeout_s)
    return StoreHere(engine, settings, settings.project)


@lru_cache(maxsize=1)
def _engine(_pid: int, url: str, timeout_s: float) -> Engine:
    """Return an engine of this process.

    It keeps no connection between two transactions. A child made by fork could not use it, and
    PostgreSQL has a hundred connections, which a fleet of idle agents would take up.
    """
    from trackrecord.store.database.migrate import open_store

    return open_store(url, timeout_s=timeout_s, keeps_connections=False)


@contextmanager
def imported() -> Iterator[None]:
    """Import what the calls need; a package that is missing, now or in the block, is explained.

    Raises:
        ExtraMissing: a package is missing that the base package does not install.
    """
    try:
        _import_all(os.getpid())
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("trackrecord"):
            raise
        message = (
            f"this call reads the store, which needs {error.name}, which is not installed: "
            "pip install 'trackrecord[worker]'"
        )
        raise ExtraMissing(message) from None
