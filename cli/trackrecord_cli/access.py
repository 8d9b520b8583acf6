"""Opening what a command needs: the settings, the store, Redis.

Nothing is imported before a command needs it: most of a command's time was spent importing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from trackrecord.errors import ServerUnavailable

if TYPE_CHECKING:
    import redis
    from sqlalchemy import Connection, Engine

    from trackrecord.settings.daemon_settings import DaemonSettings


def settings_for(project: str | None) -> tuple[DaemonSettings, str]:
    """Return the settings, and the project that was named or else is set."""
    from trackrecord.settings.daemon_settings import load_daemon_settings

    settings = load_daemon_settings()
    return settings, project or settings.project


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


@contextmanager
def own_store(project: str | None) -> Iterator[str]:
    """Let the calls in the block use the store of the settings; yields the project's name.

    Raises:
        ServerUnavailable: the database cannot be reached.
    """
    from trackrecord.resources.project_store import ProjectStore, given_stores

    settings, name = settings_for(project)
    with open_store(settings) as engine, given_stores.within(ProjectStore(engine, settings, name)):
        yield name


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


def check_project(settings: DaemonSettings, project: str) -> None:
    """Tell a project of which nothing was found from one that does not exist.

    A store that cannot be reached says nothing: whoever asks did not need it.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    from trackrecord.queries.project_rows import project_row
    from trackrecord.store.database.engine import reading

    with (
        suppress(ServerUnavailable),
        open_store(settings) as engine,
        reading(engine) as connection,
    ):
        project_row(connection, project)


@contextmanager
def open_redis(settings: DaemonSettings) -> Iterator[redis.Redis]:
    """Open a Redis that answers; a person waits for it no longer than an agent.

    Raises:
        ServerUnavailable: it cannot be reached, or goes away or hangs meanwhile.
    """
    from trackrecord.redis.client import agent_client
    from trackrecord.resources.redis_server import redis_explained

    with redis_explained(settings), agent_client(settings) as client:
        client.ping()
        yield client
