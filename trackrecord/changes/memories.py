"""Changes of memories: stored, confirmed, rejected, forgotten."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, Engine

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.queries.memories import KnownMemory, whole_memory_id
from trackrecord.queries.project_rows import project_row
from trackrecord.store.database.engine import writing
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.store.memories.write import confirm, forget, reject, remember


@dataclass(frozen=True)
class AddedMemory:
    """A memory that was handed in.

    Attributes:
        known: as it stands now; the one on record where the project had it already.
        is_new: whether it was stored.
        similarity: how alike the text and the one on record are, 0..1; None for a new one.
    """

    known: KnownMemory
    is_new: bool
    similarity: float | None

    @property
    def id(self) -> str:
        """The memory's id."""
        return self.known.id

    def to_document(self) -> dict[str, Any]:
        """Return the memory, and what became of it, as a JSON object."""
        return self.known.to_document() | {"is_new": self.is_new, "similarity": self.similarity}


def add_memory(
    engine: Engine,
    settings: DaemonSettings,
    project: str,
    text: str,
    *,
    memory_id: str | None = None,
    source: str | None = None,
    force: bool = False,
) -> AddedMemory:
    """Store a memory unless the project has it; a project of that name is made if need be.

    Args:
        engine: the store.
        settings: the rules.
        project: whose memory.
        text: what is to be remembered; it supersedes what it contradicts.
        memory_id: the id of a new memory; made when not given.
        source: who says so.
        force: store it whatever it is similar to; it supersedes nothing.

    Raises:
        InvalidMemory: the text is blank, too long, or holds what databases have no room for.
    """
    now = time.time()
    with writing(engine) as connection:
        stored = remember(
            connection,
            ensure_projects(connection, [project])[project],
            text,
            memory_id=memory_id or str(uuid4()),
            rules=settings.memories,
            now=now,
            source=source,
            force=force,
        )
    known = KnownMemory.at(settings.memories, stored.memory, now)
    return AddedMemory(known, stored.is_new, stored.similarity)


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
