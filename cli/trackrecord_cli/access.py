"""Opening the settings, the store and Redis for a command.

Nothing is imported before a command needs it: most of a command's time was spent importing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from trackrecord.errors import AmbiguousId, StoreUnfit, UnknownId
from trackrecord.learning.text.inert import one_line
from trackrecord.learning.text.project_names import DEFAULT_PROJECT
from trackrecord.resources.access.project_store import (
    ProjectStore,
    Transaction,
    given_stores,
    read_project,
)
from trackrecord.resources.declaration.resource import may_lack

if TYPE_CHECKING:
    import redis
    from sqlalchemy import Connection, Engine

    from trackrecord.resources.declaration.resource import RestsOn
    from trackrecord.settings.daemon_settings import DaemonSettings

# The projects that a message names, and the length of an id in it.
_MOST_NAMED: Final = 5
_ID_CHARS: Final = 80


def settings_for(project: str | None) -> tuple[DaemonSettings, str]:
    """Return the settings, and the project that was named, or is set, or is the repository's."""
    from trackrecord.settings.daemon_settings import load_daemon_settings

    settings = load_daemon_settings()
    if project is None and settings.project == DEFAULT_PROJECT:
        project = _project_of_repository(settings)
    return settings, project or settings.project


def known_project(name: str) -> str | None:
    """Return the project that was named, is set or is the repository's; None for the usual one."""
    return None if name == DEFAULT_PROJECT else name


def _project_of_repository(settings: DaemonSettings) -> str | None:
    """Return the project that agents' runs in the working folder belong to, if there were any."""
    from trackrecord.settings.capture_rules import mapped_project
    from trackrecord.settings.projects.project_claims import ProjectClaims
    from trackrecord.settings.projects.repositories import repository_of

    with suppress(OSError, StoreUnfit):
        folder = os.getcwd()  # noqa: PTH109 - pathlib takes long to import
        mapped = mapped_project(folder, settings.capture.project_of_folder)
        if mapped or (repository := repository_of(folder)) is None:
            return mapped or None
        return ProjectClaims(settings.home).claimed(repository)
    return None


@contextmanager
def open_store(settings: DaemonSettings) -> Iterator[Engine]:
    """Open the store, migrated.

    Raises:
        ServerUnavailable: the database cannot be reached.
    """
    from trackrecord.store.database.migrate import store_at

    url = settings.effective_database_url
    with store_at(url, timeout_s=settings.database_timeout_s) as engine:
        yield engine


class TypedId(NamedTuple):
    """An id that a command is about.

    Attributes:
        text: the id, or the beginning of it.
        kinds: what it may be an id of; see `projects_with_id`.
    """

    text: str
    kinds: tuple[str, ...]


@contextmanager
def own_store(project: str | None, about: TypedId | None = None) -> Iterator[str]:
    """Let the calls in the block use the store of the settings; yields the project's name.

    Args:
        project: the project that was named, if any.
        about: the id that they are about. Where no project is named, and the usual one lacks the
            id, that is the only project that has it, which standard error then names.

    Raises:
        ServerUnavailable: the database cannot be reached.
        UnknownId: another project than the named one has the id.
        AmbiguousId: several others than the usual one have it.
    """
    settings, name = settings_for(project)
    with open_store(settings) as engine:
        if about is not None:
            name = _project_with(engine, settings, name, about, is_named=project is not None)
        with given_stores.within(ProjectStore(engine, settings, name)):
            yield name


def _project_with(
    engine: Engine, settings: DaemonSettings, project: str, about: TypedId, *, is_named: bool
) -> str:
    from trackrecord.resources.figures.projects_of_ids import projects_with_id
    from trackrecord.store.database.engine import reading
    from trackrecord.store.outcomes.projects import project_id_of

    with reading(engine) as connection:
        it = Transaction(connection, settings, project)
        owners = projects_with_id(it, about.kinds, about.text)
        is_known = project_id_of(connection, project) is not None
    if not owners or project in owners or (is_named and not is_known):
        return project
    names = ", ".join(map(repr, owners[:_MOST_NAMED])) + (", …" if owners[_MOST_NAMED:] else "")
    shown = repr(one_line(about.text, _ID_CHARS))
    if is_named:
        message = f"{shown} is not in project {project!r}, but in {names}; name it with --project"
        raise UnknownId(message)
    if len(owners) > 1:
        message = f"{shown} is in the projects {names}; choose one with --project"
        raise AmbiguousId(message)
    click.echo(f"{shown} is in project {names}", err=True)
    return owners[0]


@contextmanager
def read_store(project: str | None) -> Iterator[tuple[Connection, DaemonSettings, str]]:
    """Open a reading transaction; with it come the settings and the name of the project.

    Raises:
        ServerUnavailable: the database cannot be reached.
    """
    from trackrecord.store.database.engine import reading

    settings, name = settings_for(project)
    with open_store(settings) as engine, reading(engine) as connection:
        yield connection, settings, name


def say_removed_of(
    project: str | None, rests_on: tuple[RestsOn, ...], asked: Mapping[str, Any], *, is_whole: bool
) -> dict[str, str]:
    """Say on standard error what an answer lacks because retention has removed it.

    Args:
        project: whose answer; None for all projects.
        rests_on: what it rests on, see `Operation.rests_on`.
        asked: the arguments of the call.
        is_whole: whether what it lists goes back to the oldest.

    Returns:
        What the answer's JSON object has of it.
    """
    needed = may_lack(rests_on, asked, is_whole=is_whole)
    if not needed:
        return {}
    from trackrecord.resources.access.removed import removed_from_answer

    with read_project(project) as it:
        removed = removed_from_answer(it.connection, project, needed, asked)
    if not removed:
        return {}
    click.echo(removed, err=True)
    return {"removed": removed}


@contextmanager
def open_redis(settings: DaemonSettings) -> Iterator[redis.Redis]:
    """Open a Redis that answers; a person waits for it no longer than an agent.

    Raises:
        ServerUnavailable: it cannot be reached, or goes away or hangs meanwhile.
    """
    from trackrecord.redis.client import agent_client
    from trackrecord.resources.access.redis_server import redis_explained

    with redis_explained(settings), agent_client(settings) as client:
        client.ping()
        yield client
