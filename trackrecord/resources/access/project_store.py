"""The store of a project, opened for one call: a transaction, the project's row, the moment."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cached_property, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from trackrecord.errors import (
    ExtraMissing,
    InvalidRequest,
    ServerUnavailable,
    StoreUnavailable,
    UnknownProject,
)
from trackrecord.learning.text.project_names import checked_project
from trackrecord.learning.text.spelling import closest
from trackrecord.process.forking import not_while_forking
from trackrecord.process.scoped import Scoped
from trackrecord.resources.declaration.checks import Moment, moment_of

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from trackrecord.settings.daemon_settings import DaemonSettings


class ProjectStore(Struct, frozen=True):
    """A project in the store of this process.

    Attributes:
        engine: the store, migrated.
        settings: those of this process.
        project: the project that was named or else is set.
    """

    engine: Engine
    settings: DaemonSettings
    project: str


class Transaction(Struct, frozen=True, dict=True):
    """A transaction in which one question is answered, or one change of a project is made.

    Attributes:
        connection: the transaction.
        settings: those of this process.
        project: whose data.
        at: the moment that is asked about, in seconds since the epoch; None for now.
    """

    connection: Connection
    settings: DaemonSettings
    project: str
    at: float | None = None

    @cached_property
    def project_id(self) -> int:
        """The project's row.

        Raises:
            UnknownProject: nothing is on record for the project.
        """
        return project_row(self.connection, self.project)

    @cached_property
    def moment(self) -> float:
        """The moment to answer for, in seconds since the epoch: the same in all of an answer."""
        return time.time() if self.at is None else self.at


def project_row(connection: Connection, name: str) -> int:
    """Return the row of a project.

    Raises:
        UnknownProject: nothing is on record for it; the message names the nearest known project.
    """
    from trackrecord.store.outcomes.projects import project_id_of, project_names

    project_id = project_id_of(connection, name)
    if project_id is None:
        known = project_names(connection)
        raise UnknownProject(name, nearest=closest(name, known), count=len(known))
    return project_id


class NoStore:
    """Stands for the store in a test that gives none."""


# What is imported before the first call: a child forked in the middle of it could never finish.
_NEEDED: Final = (
    "settings.daemon_settings", "learning.advice.lessons.find",
    "resources.access.removed", "resources.access.short_ids",
    "resources.experience.found_commands", "resources.experience.sourced_lessons",
    "resources.experience.pattern_standings", "resources.figures.explain",
    "resources.prompt_documents.changing", "resources.reports.run_exposures",
    "resources.reports.runs",
    "store.advice.lesson_decisions",
    "store.competences.provenance", "store.competences.read", "store.competences.revise",
    "store.database.migrate", "store.intake.feedback", "store.memories.past_tasks",
    "store.memories.recall", "store.memories.write", "store.outcomes.feedback.feedback",
    "store.patterns.decide",
    "store.advice.run_records", "store.advice.runs", "store.advice.worker_counts",
)  # fmt: skip

# What a test or a command gives in place of the store that the settings name.
given_stores: Final = Scoped[ProjectStore | NoStore]("trackrecord_given_store")

# What a server has open, for the calls that it makes to answer one question.
_servers_store: Final = ContextVar[ProjectStore | None]("trackrecord_servers_store", default=None)


@contextmanager
def calls_use(store: ProjectStore) -> Iterator[None]:
    """Let the calls that this thread makes in the block use a store that a server keeps open."""
    token = _servers_store.set(store)
    try:
        yield
    finally:
        _servers_store.reset(token)


@contextmanager
def open_project(project: str | None) -> Iterator[ProjectStore]:
    """Open the store of this process's settings, or the one that a server, test or command gives.

    Args:
        project: the project that the caller named; the settings' project when None.

    Raises:
        InvalidRequest: no project can have this name.
        SettingsError: a setting is wrong.
        ExtraMissing: a package is missing that the base package does not install.
        ServerUnavailable: the database cannot be reached.
    """
    named = None if project is None else _checked(project)
    store = _servers_store.get() or given_stores.get()
    if store is None:
        with imported():
            store = _opened()
    if isinstance(store, NoStore):
        message = (
            "this test gives the calls no store: open trackrecord.testing.store_of() around it"
        )
        raise StoreUnavailable(message)
    yield replace(store, project=named or store.project)


@contextmanager
def read_project(project: str | None, at: Moment | None = None) -> Iterator[Transaction]:
    """Open a reading transaction for a question about a project; see `open_project`.

    Args:
        project: the project that the caller named; the settings' project when None.
        at: a past moment to answer for.

    Raises:
        InvalidTime: `at` is not a moment between 1970 and 9999.
        TrackrecordError: as `open_project` does; or the database cannot be reached.
    """
    moment = moment_of(at)
    with open_project(project) as store:
        from trackrecord.store.database.engine import reading

        with reading(store.engine) as connection:
            yield Transaction(connection, store.settings, store.project, moment)


def check_project(project: str | None) -> None:
    """Make sure that something is on record for a project, for whoever needs no store else.

    A store that cannot be reached says nothing.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    with suppress(ServerUnavailable), read_project(project) as it:
        _ = it.project_id


@contextmanager
def write_project(project: str | None) -> Iterator[Transaction]:
    """Open a writing transaction for what agents report; a worker refreshes the rankings later.

    Raises:
        TrackrecordError: as `open_project` does; or the database cannot be reached.
    """
    with open_project(project) as store:
        from trackrecord.store.database.engine import writing

        with writing(store.engine) as connection:
            yield Transaction(connection, store.settings, store.project)


@contextmanager
def change_project(project: str | None) -> Iterator[Transaction]:
    """Open a writing transaction for a decision; the project's rankings are refreshed after it.

    Raises:
        TrackrecordError: as `open_project` does; or the database cannot be reached.
    """
    with open_project(project) as store:
        from trackrecord.resources.prompt_documents.changing import changing

        with changing(store.engine, store.settings, store.project) as connection:
            yield Transaction(connection, store.settings, store.project)


def _checked(project: str) -> str:
    try:
        return checked_project(project)
    except ValueError as error:
        raise InvalidRequest(str(error)) from None


@lru_cache(maxsize=1)
def _import_all(_pid: int) -> None:
    """Import what the calls need, once."""
    with not_while_forking():
        for name in _NEEDED:
            import_module(f"trackrecord.{name}")


def _opened() -> ProjectStore:
    from trackrecord.settings.daemon_settings import load_daemon_settings

    settings = load_daemon_settings()
    engine = _engine(os.getpid(), settings.effective_database_url, settings.database_timeout_s)
    return ProjectStore(engine, settings, settings.project)


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
