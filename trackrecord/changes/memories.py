"""Changes of memories: stored, confirmed, rejected, forgotten; recalled, and found once indexed."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, Engine

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.queries.memories import (
    KnownMemory,
    RecalledMemory,
    list_similar_tasks,
    recall_memories,
    whole_memory_id,
)
from trackrecord.queries.project_rows import project_row
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.store.memories.past_tasks import PastTask, index_past_tasks
from trackrecord.store.memories.recall import reset_clocks
from trackrecord.store.memories.similar import mark_waiting
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


def recall_and_reset(
    engine: Engine,
    settings: DaemonSettings,
    project: str,
    text: str,
    *,
    limit: int,
    min_confidence: float = 0.0,
    at: float | None = None,
    reset: bool = True,
) -> list[RecalledMemory]:
    """Return the memories that fit a text, best first, and let each of them count in full again.

    Args:
        engine: the store.
        settings: the rules.
        project: whose memories.
        text: what they are to fit.
        limit: the maximum number of memories to return.
        min_confidence: the minimum effective confidence.
        at: a past moment to answer for.
        reset: whether the decay clock of the memories returned starts again; never with `at`.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    rules = settings.memories
    mark_waiting(engine, rules)
    with reading(engine) as connection:
        found = recall_memories(
            connection, settings, project, text, limit=limit, min_confidence=min_confidence, at=at
        )
    if found and reset and at is None:
        with writing(engine) as connection:
            rows = [recalled.known.memory.row for recalled in found]
            reset_clocks(connection, rows, rules=rules, now=time.time())
    return found


def find_similar_tasks(
    engine: Engine,
    settings: DaemonSettings,
    project: str,
    text: str,
    *,
    limit: int,
    at: float | None = None,
) -> list[PastTask]:
    """Index the past tasks that are new, and return those that fit a text, best first.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    index_past_tasks(engine)
    with reading(engine) as connection:
        return list_similar_tasks(connection, settings, project, text, limit=limit, at=at)
