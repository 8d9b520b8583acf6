"""Opening what a command needs: the settings, the store, Redis."""

from collections.abc import Iterator
from contextlib import contextmanager

import redis
from sqlalchemy import Connection, Engine

from trackrecord.errors import UnknownId
from trackrecord.redis_client import worker_client
from trackrecord.redis_problems import explain_redis_error
from trackrecord.settings import Settings, load_settings
from trackrecord.store.database.engine import connect_store
from trackrecord.store.database.migrate import migrate
from trackrecord.store.outcomes.projects import project_id_of


@contextmanager
def open_store(settings: Settings) -> Iterator[Engine]:
    """The store, migrated.

    Raises:
        ServerUnavailable: the database cannot be reached.
    """
    engine = connect_store(settings.effective_database_url, timeout_s=settings.database_timeout_s)
    try:
        migrate(engine)
        yield engine
    finally:
        engine.dispose()


@contextmanager
def open_redis(settings: Settings) -> Iterator[redis.Redis]:
    """A Redis that answers.

    Raises:
        ServerUnavailable: it cannot be reached, or goes away meanwhile.
    """
    client = worker_client(settings)
    try:
        client.ping()
        yield client
    except redis.RedisError as error:
        explained = explain_redis_error(error, settings)
        if explained is None:
            raise
        raise explained from None
    finally:
        client.close()


def settings_for(project: str | None) -> tuple[Settings, str]:
    """The settings, and the project that is meant."""
    settings = load_settings()
    return settings, project or settings.project


def project_on_record(connection: Connection, name: str) -> int:
    """The row of a project that is to be changed.

    Raises:
        UnknownId: nothing is on record for it.
    """
    project_id = project_id_of(connection, name)
    if project_id is None:
        message = f"nothing is on record for project {name!r}"
        raise UnknownId(message)
    return project_id
