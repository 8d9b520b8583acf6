"""Write a person's change; the cached rankings follow at once, whichever surface it came from."""

import contextlib
import time
from collections.abc import Iterator

import redis
from sqlalchemy import Connection, Engine

from trackrecord.errors import ServerUnavailable, StoreUnavailable
from trackrecord.prompt.reading.cache import write_document
from trackrecord.redis.client import agent_client
from trackrecord.redis.problems import is_out_of_memory
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.database.leases import repeatable_read
from trackrecord.store.patterns.transitions import Transition, note_states, unnoted_states

from .prompt_document import rank_project


def write_rankings(
    engine: Engine,
    client: redis.Redis,
    settings: DaemonSettings,
    project: str,
    *,
    force: bool = False,
) -> tuple[int, bool, tuple[Transition, ...]]:
    """Cache the rankings that the store has now, and note the states that patterns have come to.

    Args:
        engine: the store.
        client: a Redis client.
        settings: times and rules.
        project: its name.
        force: write them even over a later revision.

    Returns:
        The project's revision; whether the rankings were written: a later one may be cached, or
        Redis's memory may be full, and they are written when there is room; the changes of state.
    """
    now = time.time()
    with reading(engine) as connection:
        repeatable_read(connection)
        document, standings = rank_project(connection, project, settings.rules, now=now)
        unnoted = unnoted_states(connection, project, standings, settings.rules, now=now)
    try:
        written = write_document(client, settings, document, force=force)
    except redis.ResponseError as error:
        if not is_out_of_memory(error):
            raise
        written = False
    changes: tuple[Transition, ...] = ()
    if unnoted is not None:
        # A store that is busy or locked: they are found again by the next refresh.
        with contextlib.suppress(StoreUnavailable), writing(engine) as connection:
            changes = note_states(connection, unnoted)
    return document.revision, written, changes


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
