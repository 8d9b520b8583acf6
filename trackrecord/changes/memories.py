"""Changes of memories: stored, confirmed, rejected, forgotten."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.queries.memories import KnownMemory, whole_memory_id
from trackrecord.queries.project_rows import project_row
from trackrecord.store.database.engine import writing
from trackrecord.store.memories.write import confirm, forget, reject


def confirm_memory(
    engine: Engine, settings: DaemonSettings, project: str, memory_id: str
) -> KnownMemory:
    """Note that a memory was right.

    Args:
        engine: the store.
        settings: the rules.
        project: the memory's project.
        memory_id: its id, or the beginning of it.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no such memory.
        AmbiguousId: several memories' ids begin so.
    """
    now = time.time()
    with _changing(engine, project, memory_id) as (connection, row, whole):
        memory = confirm(connection, row, whole, rules=settings.memories, now=now)
    return KnownMemory.at(settings.memories, memory, now)


def reject_memory(
    engine: Engine, settings: DaemonSettings, project: str, memory_id: str
) -> KnownMemory:
    """Note that a memory was wrong; one that is rejected often becomes a known pitfall.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no such memory.
        AmbiguousId: several memories' ids begin so.
    """
    now = time.time()
    with _changing(engine, project, memory_id) as (connection, row, whole):
        memory = reject(connection, row, whole, rules=settings.memories, now=now)
    return KnownMemory.at(settings.memories, memory, now)


def forget_memory(engine: Engine, project: str, memory_id: str) -> str:
    """Erase a memory and its history; return its whole id.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no such memory.
        AmbiguousId: several memories' ids begin so.
    """
    with _changing(engine, project, memory_id) as (connection, row, whole):
        forget(connection, row, whole, now=time.time())
    return whole


@contextmanager
def _changing(
    engine: Engine, project: str, memory_id: str
) -> Iterator[tuple[Connection, int, str]]:
    """Open a writing transaction; with it come the project's row and the memory's whole id."""
    with writing(engine) as connection:
        row = project_row(connection, project)
        yield connection, row, whole_memory_id(connection, project, memory_id)
