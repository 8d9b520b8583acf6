"""Opening what a command needs: the settings, the store, Redis."""

from collections.abc import Iterator
from contextlib import contextmanager

import redis
from sqlalchemy import Connection, Engine

from trackrecord.errors import ServerUnavailable, UnknownId
from trackrecord.redis_client import worker_client
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
    except redis.AuthenticationError:
        # A kind of ConnectionError, with another way out.
        message = "Redis refuses the password; check TRACKRECORD_REDIS_URL"
        raise ServerUnavailable(message) from None
    except (redis.ConnectionError, redis.TimeoutError) as error:
        hint = (
            "start it with `trackrecord up`, or set TRACKRECORD_REDIS_URL"
            if settings.redis_url is None
            else "check TRACKRECORD_REDIS_URL"
        )
        # redis-py's messages name the host and port, never the password.
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        message = f"Redis cannot be reached ({reason}); {hint}"
        raise ServerUnavailable(message) from None
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
