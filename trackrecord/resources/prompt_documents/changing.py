"""Write a person's change; the cached rankings follow at once, whichever surface it came from."""

import contextlib
import time
from collections.abc import Iterator

import redis
from sqlalchemy import Connection, Engine

from trackrecord.errors import ServerUnavailable
from trackrecord.prompt.reading.cache import write_document
from trackrecord.redis.client import agent_client
from trackrecord.redis.problems import is_out_of_memory
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.database.engine import reading, writing

from .prompt_document import build_document


def write_rankings(
    engine: Engine,
    client: redis.Redis,
    settings: DaemonSettings,
    project: str,
    *,
    force: bool = False,
) -> tuple[int, bool]:
    """Cache the rankings that the store has now.

    Args:
        engine: the store.
        client: a Redis client.
        settings: times and rules.
        project: its name.
        force: write them even over a later revision.

    Returns:
        The project's revision, and whether the rankings were written: a later one may be cached, or
        Redis's memory may be full, and they are written when there is room.
    """
    with reading(engine) as connection:
        document = build_document(connection, project, settings.rules, now=time.time())
    try:
        written = write_document(client, settings, document, force=force)
    except redis.ResponseError as error:
        if not is_out_of_memory(error):
            raise
        written = False
    return document.revision, written


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
