"""Memories on record: read, and changed one row at a time."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any, Final, TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    bindparam,
    func,
    insert,
    select,
    update,
)

from trackrecord.errors import UnknownId
from trackrecord.learning.memories.rules import (
    MemoryRules,
    MemoryState,
    MemoryType,
    shown_text,
    standing_at_any_time,
)
from trackrecord.learning.outcomes.scoring import Verdict

from ..database.leases import for_update
from ..database.parts import in_parts
from ..outcomes.tables import feedback
from .tables import memories, memory_changes, memory_sources

_Change = TypeVar("_Change")


@dataclass(frozen=True)
class StoredMemory:
    """A memory on record.

    Attributes:
        row: its row in the store.
        id: unique in its project.
        text: what it says; that of a known pitfall begins by saying so.
        state: where it stands.
        created_at: when it was stored, seconds since the epoch.
        last_recalled_at: when it was recalled last, None if it never was.
        sources: who said so, in the order in which they did.
        superseded_by: the newer memory that contradicts it.
        supersedes: the older ones that it contradicts.
    """

    row: int
    id: str
    text: str
    state: MemoryState
    created_at: float
    last_recalled_at: float | None
    sources: tuple[str, ...] = ()
    superseded_by: str | None = None
    supersedes: tuple[str, ...] = ()


def memory_state(row: Row[Any]) -> MemoryState:
    """Return the state of a memory from its row."""
    clock = row.created_at if row.last_recalled_at is None else row.last_recalled_at
    return MemoryState(
        MemoryType(row.type), row.confidence, clock, is_superseded=row.superseded_by is not None
    )


# What is read of a memory that is shown.
MEMORIES_READ: Final[Select[Any]] = select(
    memories.c.id, memories.c.project_id, memories.c.memory_id, memories.c.text, memories.c.type,
    memories.c.confidence, memories.c.created_at, memories.c.last_recalled_at,
    memories.c.superseded_by,
)  # fmt: skip


def complete(connection: Connection, rows: Collection[Row[Any]]) -> list[StoredMemory]:
    """Return memories from their rows, with their sources and predecessors, in the same order."""
    sources = _sources_of(connection, [row.id for row in rows])
    superseded = _superseded_by(connection, rows)
    return [
        StoredMemory(
            row=row.id,
            id=row.memory_id,
            text=shown_text(MemoryType(row.type), row.text),
            state=memory_state(row),
            created_at=row.created_at,
            last_recalled_at=row.last_recalled_at,
            sources=sources.get(row.id, ()),
            superseded_by=row.superseded_by,
            supersedes=superseded.get(row.memory_id, ()),
        )
        for row in rows
    ]


def memory_speakers(
    connection: Connection, project_id: int, found: Iterable[StoredMemory]
) -> dict[str, set[str]]:
    """Return who says so, by the id of each memory: its sources, and whose feedback confirms it.

    The very first memory is among them: nobody becomes the only source by saying a lot.
    """
    first = MEMORIES_READ.where(memories.c.project_id == project_id)
    rows = connection.execute(first.order_by(memories.c.created_at, memories.c.id).limit(1)).all()
    speakers = {
        memory.id: set(memory.sources or ("",)) for memory in (*complete(connection, rows), *found)
    }
    told = select(feedback.c.name, feedback.c.source).where(
        feedback.c.project_id == project_id,
        feedback.c.subject == "memory",
        feedback.c.verdict == Verdict.HELPFUL.value,
        feedback.c.name.in_(speakers),
    )
    for name, source in connection.execute(told):
        speakers[name].add(source or "")
    return speakers


def _sources_of(connection: Connection, rows: list[int]) -> Mapping[int, tuple[str, ...]]:
    found: dict[int, tuple[str, ...]] = {}
    said = memory_sources.c
    for some in in_parts(rows):
        query = select(said.memory, said.at, said.source).where(said.memory.in_(some))
        # Here, not in SQL: each database has an order of texts of its own.
        answer = sorted(connection.execute(query), key=tuple)
        for memory, group in groupby(answer, attrgetter("memory")):
            found[memory] = tuple(row.source for row in group)
    return found


def _superseded_by(
    connection: Connection, rows: Collection[Row[Any]]
) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for some in in_parts(row.memory_id for row in rows):
        query = select(memories.c.superseded_by, memories.c.memory_id).where(
            memories.c.project_id.in_({row.project_id for row in rows}),
            memories.c.superseded_by.in_(some),
        )
        query = query.order_by(memories.c.superseded_by, memories.c.id)
        for newer, group in groupby(connection.execute(query), attrgetter("superseded_by")):
            found[newer] = tuple(row.memory_id for row in group)
    return found


def strongest_memories(
    connection: Connection, project_id: int, *, limit: int
) -> list[StoredMemory]:
    """Return the memories with the highest effective confidence that no other has superseded."""
    query = MEMORIES_READ.where(
        memories.c.project_id == project_id, memories.c.superseded_by.is_(None)
    )
    query = query.order_by(memories.c.standing.desc(), memories.c.id).limit(limit)
    return complete(connection, connection.execute(query).all())


def find_memory(connection: Connection, project_id: int, memory_id: str) -> StoredMemory:
    """One memory.

    Raises:
        UnknownId: the project has no such memory.
    """
    query = MEMORIES_READ.where(*_is(project_id, memory_id))
    return complete(connection, [_one(connection, query, memory_id)])[0]


def held_row(connection: Connection, project_id: int, memory_id: str) -> Row[Any]:
    """A memory's row, for_update until the transaction ends.

    Raises:
        UnknownId: the project has no such memory.
    """
    query = select(memories).where(*_is(project_id, memory_id))
    return _one(connection, for_update(connection, query, memories), memory_id)


def _is(project_id: int, memory_id: str) -> tuple[ColumnElement[bool], ...]:
    return memories.c.project_id == project_id, memories.c.memory_id == memory_id


def _one(connection: Connection, query: Select[Any], memory_id: str) -> Row[Any]:
    # A text with a NUL cannot be an id, and PostgreSQL refuses to be asked for it.
    row = None if "\0" in memory_id else connection.execute(query).one_or_none()
    if row is None:
        message = f"no memory {memory_id!r} in this project; `memories list` shows all"
        raise UnknownId(message)
    return row


def changes_of(
    connection: Connection, row: int, made: Callable[[float, str, str | None, str, float], _Change]
) -> list[_Change]:
    """Return the changes of a memory, oldest first.

    Args:
        connection: a reading transaction.
        row: the memory's.
        made: makes a change of its moment, what it was, what brought it about, and the type and
            the confidence of the memory since.
    """
    then = memory_changes.c
    query = select(then.at, then.action, then.because_of, then.type, then.confidence)
    query = query.where(then.memory == row)
    return [made(*each) for each in connection.execute(query.order_by(then.number))]


@dataclass(frozen=True)
class StateChange:
    """A change of a memory whose row is locked.

    Attributes:
        row: the memory as it is on record.
        action: what happens.
        after: where it stands from now on.
        because_of: the outcome or memory that brings it about.
        superseded_by: the newer memory, when that is what happens.
        recalled_at: when it was recalled, when that is what happens.
    """

    row: Row[Any]
    action: str
    after: MemoryState
    because_of: str | None = None
    superseded_by: str | None = None
    recalled_at: float | None = None


def record_changes(
    connection: Connection, rules: MemoryRules, changes: Collection[StateChange], *, now: float
) -> None:
    """Store new states of memories, each once, and add them to their history.

    Args:
        connection: within a writing transaction.
        rules: what the order of memories is computed by.
        changes: what happens to them.
        now: seconds since the epoch.
    """
    if not changes:
        return
    written = [_written(each, now) for each in changes]
    connection.execute(
        insert(memory_changes),
        [
            {"memory": change.row.id, "action": change.action, "because_of": change.because_of}
            | values
            for change, values in zip(changes, written, strict=True)
        ],
    )
    connection.execute(
        _STAND,
        [
            {"row": change.row.id, "stands": standing_at_any_time(rules, change.after)}
            | {f"new_{name}": value for name, value in values.items()}
            for change, values in zip(changes, written, strict=True)
        ],
    )


def _written(change: StateChange, now: float) -> dict[str, Any]:
    row = change.row
    return {
        "number": row.changes + 1,
        # Clocks of two machines differ: what happened later must not lie before it in the past.
        "at": max(now, row.changed_at),
        "type": change.after.type.value,
        "confidence": change.after.confidence,
        "last_recalled_at": change.recalled_at or row.last_recalled_at,
        "superseded_by": change.superseded_by or row.superseded_by,
    }


_STAND = (
    update(memories)
    .where(memories.c.id == bindparam("row"))
    .values(
        changes=bindparam("new_number"),
        changed_at=bindparam("new_at"),
        type=bindparam("new_type"),
        confidence=bindparam("new_confidence"),
        last_recalled_at=bindparam("new_last_recalled_at"),
        superseded_by=bindparam("new_superseded_by"),
        standing=bindparam("stands"),
    )
)


def count_memories(connection: Connection, project_id: int | None) -> int:
    """Return how many memories are on record of one project, or of all (None)."""
    query = select(func.count()).select_from(memories)
    if project_id is not None:
        query = query.where(memories.c.project_id == project_id)
    return connection.execute(query).scalar_one()
