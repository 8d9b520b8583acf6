"""Memories and past tasks as a reader is shown them: listed, recalled, or found by similarity."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import msgspec
from sqlalchemy import Connection, Engine

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.learning.memories.rules import MemoryRules, MemoryType, effective_confidence
from trackrecord.store.database.engine import reading
from trackrecord.store.memories.past_tasks import PastTask, similar_tasks
from trackrecord.store.memories.read import Memory, MemoryChange, changes_of, find_memory
from trackrecord.store.memories.recall import recall
from trackrecord.store.memories.tables import memories
from trackrecord.store.memories.write import MemoryFilter, count_wanted
from trackrecord.store.memories.write import list_memories as read_memories
from trackrecord.times import iso

from .cursors import cursor_of, place_of
from .project_rows import project_row
from .short_ids import ids_beginning_with, ids_near, ids_next_to, whole_stored_id
from .sorting import MEMORIES, Order

EVERY = MemoryFilter()


class MemoryPlace(NamedTuple):
    """A place in the order of memories: the newest first.

    Attributes:
        created_at: seconds since the epoch.
        row: the memory's row in the store.
    """

    created_at: float
    row: Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


@dataclass(frozen=True)
class KnownMemory:
    """A memory, and how far it is trusted at a moment.

    Attributes:
        memory: as it is stored.
        effective_confidence: its confidence, decayed to the moment.
    """

    memory: Memory
    effective_confidence: float

    @property
    def id(self) -> str:
        """The memory's id."""
        return self.memory.id

    @property
    def text(self) -> str:
        """The memory's text; that of a known pitfall with its prefix."""
        return self.memory.text

    @property
    def cursor(self) -> str:
        """The text that `after` takes for the memories that follow this one in a list."""
        return cursor_of(MemoryPlace(self.memory.created_at, self.memory.row))

    @classmethod
    def at(cls, rules: MemoryRules, memory: Memory, moment: float) -> "KnownMemory":
        """Return a memory as it counts at a moment."""
        return cls(memory, effective_confidence(rules, memory.state, moment))

    def to_document(self) -> dict[str, Any]:
        """Return the memory as a JSON object."""
        memory = self.memory
        return {
            "id": memory.id,
            "text": memory.text,
            "type": memory.state.type.value,
            "source": memory.sources[0] if memory.sources else None,
            "sources": list(memory.sources),
            "confidence": memory.state.confidence,
            "effective_confidence": self.effective_confidence,
            "created_at": iso(memory.created_at),
            "last_recalled_at": iso(memory.last_recalled_at),
            "superseded_by": memory.superseded_by,
            "supersedes": list(memory.supersedes),
        }


@dataclass(frozen=True)
class RecalledMemory:
    """A memory that was recalled, and what it was ranked by.

    Attributes:
        known: the memory.
        relevance: how well it fits the question, 0..1.
        score: what it is ranked by.
    """

    known: KnownMemory
    relevance: float
    score: float

    @property
    def id(self) -> str:
        """The memory's id."""
        return self.known.id

    @property
    def text(self) -> str:
        """The memory's text; that of a known pitfall with its prefix."""
        return self.known.text

    def to_document(self) -> dict[str, Any]:
        """Return the memory, its relevance and its score as a JSON object."""
        return self.known.to_document() | {"relevance": self.relevance, "score": self.score}


@dataclass(frozen=True)
class MemoryDetails:
    """A memory with its history.

    Attributes:
        known: the memory.
        changes: the first one first.
    """

    known: KnownMemory
    changes: tuple[MemoryChange, ...]

    def to_document(self) -> dict[str, Any]:
        """Return the memory with its history as a JSON object."""
        history = [{**vars(change), "at": iso(change.at)} for change in self.changes]
        return self.known.to_document() | {"history": history}


def memory_filter(
    *,
    type: str | None,  # noqa: A002 - what the rules call it
    source: str | None,
    min_confidence: float | None,
) -> MemoryFilter:
    """Return the filter for memories of a type, from a source, with a minimum confidence."""
    return MemoryFilter(MemoryType(type) if type else None, source, min_confidence)


def list_memories(
    engine: Engine,
    settings: DaemonSettings,
    project: str,
    *,
    wanted: MemoryFilter = EVERY,
    at: float | None = None,
    limit: int | None = None,
    order: Order | None = None,
    after: str | None = None,
) -> list[KnownMemory]:
    """Return the memories of a project: newest first, or in an order of `sorting.MEMORIES`.

    Args:
        engine: the store.
        settings: the rules.
        project: whose memories.
        wanted: which of them.
        at: a past moment to answer for.
        limit: the maximum number of memories to return.
        order: one of `sorting.MEMORIES`, instead of newest first.
        after: the cursor of a memory: only those that follow it where the newest come first.

    Raises:
        UnknownProject: nothing is on record for the project.
        InvalidCursor: `after` is not the cursor of a memory.
    """
    place = None if after is None else place_of(after, MemoryPlace)
    most = limit if order is None else None
    with reading(engine) as connection:
        project_id = project_row(connection, project)
        found = read_memories(connection, project_id, wanted, at=at, limit=most, after=place)
    moment = time.time() if at is None else at
    known = [KnownMemory.at(settings.memories, memory, moment) for memory in found]
    return MEMORIES.sorted(known, order)[:limit]


def count_listed_memories(
    engine: Engine, project: str, *, wanted: MemoryFilter = EVERY, at: float | None = None
) -> int:
    """Return how many memories `list_memories` would return without a limit.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    with reading(engine) as connection:
        return count_wanted(connection, project_row(connection, project), wanted, at=at)


def recall_memories(
    connection: Connection,
    settings: DaemonSettings,
    project: str,
    text: str,
    *,
    limit: int,
    min_confidence: float = 0.0,
    at: float | None = None,
) -> list[RecalledMemory]:
    """Return the memories that fit a text, best first.

    Args:
        connection: a reading transaction.
        settings: the rules.
        project: whose memories.
        text: what they are to fit.
        limit: the maximum number of memories to return.
        min_confidence: the minimum effective confidence.
        at: a past moment to answer for.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    rules = settings.memories
    now = time.time()
    found = recall(
        connection,
        project_row(connection, project),
        text,
        rules=rules,
        now=now,
        limit=limit,
        min_confidence=min_confidence,
        at=at,
    )
    moment = now if at is None else at
    return [
        RecalledMemory(
            KnownMemory.at(rules, recalled.memory, moment), recalled.relevance, recalled.rank
        )
        for recalled in found
    ]


def list_similar_tasks(
    connection: Connection,
    settings: DaemonSettings,
    project: str,
    text: str,
    *,
    limit: int,
    at: float | None = None,
) -> list[PastTask]:
    """Return the past tasks whose instruction fits a text, best first.

    Only those that are indexed are found; see `changes.memories.find_similar_tasks`.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    project_id = project_row(connection, project)
    most = settings.memories.max_candidates
    return similar_tasks(connection, project_id, text, most=most, limit=limit, at=at)


def task_document(task: PastTask) -> dict[str, Any]:
    """Return a past task as a JSON object."""
    return dict(vars(task)) | {"ended_at": iso(task.ended_at)}


def show_memory(
    connection: Connection,
    settings: DaemonSettings,
    project: str,
    memory_id: str,
    *,
    at: float | None = None,
) -> MemoryDetails:
    """Return one memory by its id, or the beginning of it, with its history.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no such memory, or had none at that moment.
        AmbiguousId: several memories' ids begin so.
    """
    project_id = project_row(connection, project)
    whole = whole_memory_id(connection, project, memory_id)
    memory = find_memory(connection, project_id, whole, at=at)
    moment = time.time() if at is None else at
    return MemoryDetails(
        KnownMemory.at(settings.memories, memory, moment),
        tuple(changes_of(connection, memory.row, at=at)),
    )


def whole_memory_id(connection: Connection, project: str, given: str) -> str:
    """Return the id of the memory that an id, or the beginning of one, stands for.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no such memory.
        AmbiguousId: several memories' ids begin so.
    """
    return whole_stored_id(
        connection,
        memories.c.memory_id,
        memories.c.project_id == project_row(connection, project),
        given,
        f"project {project!r} has no memory {given!r}",
        hint="`trackrecord memories list` shows its memories",
    )


def memory_ids(connection: Connection, project_id: int, given: str) -> list[str]:
    """Return the ids of the memories that begin with a text."""
    where = memories.c.project_id == project_id
    return ids_beginning_with(connection, memories.c.memory_id, where, given)


def memory_ids_near(connection: Connection, project_id: int, given: str) -> list[str]:
    """Return the ids of the memories that a mistyped one may have been meant to be."""
    return ids_near(connection, memories.c.memory_id, memories.c.project_id == project_id, given)


def ids_for_tables(engine: Engine, project: str, shown: Iterable[str]) -> list[str]:
    """Return the ids of memories that the short ids of those shown must not stand for.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    with reading(engine) as connection:
        where = memories.c.project_id == project_row(connection, project)
        return ids_next_to(connection, memories.c.memory_id, where, shown)
