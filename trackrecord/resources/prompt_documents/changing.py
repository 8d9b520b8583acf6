"""Write a person's change; the cached rankings follow at once, whichever surface it came from."""

import contextlib
from collections.abc import Iterator

import redis
from sqlalchemy import Connection, Engine

from trackrecord.errors import ServerUnavailable
from trackrecord.redis.client import agent_client
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.database.engine import writing

from .cached_rankings import write_rankings


@contextlib.contextmanager
def changing(engine: Engine, settings: DaemonSettings, project: str) -> Iterator[Connection]:
    """Open a writing transaction for a change of a project, and refresh its rankings after it.

    Args:
        engine: the store.
        settings: the rules, and the Redis server.
        project: what is changed belongs to it.
    """
    with writing(engine) as connection:
        yield connection
    refresh_rankings(engine, settings, project)


def refresh_rankings(engine: Engine, settings: DaemonSettings, project: str) -> None:
    """Refresh the cached rankings of a project; without Redis a worker does it later."""
    with (
        contextlib.suppress(redis.RedisError, OSError, ServerUnavailable),
        agent_client(settings) as client,
    ):
        write_rankings(engine, client, settings, project)
