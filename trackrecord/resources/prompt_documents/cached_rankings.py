"""Compute a project's rankings from the store and cache them for prompts."""

import time

import redis
from sqlalchemy import Engine

from trackrecord.prompt.reading.cache import write_document
from trackrecord.redis.problems import is_out_of_memory
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.database.engine import reading

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
