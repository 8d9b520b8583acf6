"""Storing memories, and changing one by hand: each is one transaction, with nothing half done."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    delete,
    func,
    insert,
    select,
    tuple_,
    update,
)

from trackrecord.errors import UnknownId
from trackrecord.learning.memories.comparison import CONFLICT_FROM, Likeness, compare
from trackrecord.learning.memories.rules import (
    MemoryRules,
    MemoryState,
    MemoryType,
    confirmed,
    rejected,
    standing_at_any_time,
    superseded,
    without_prefix,
)
from trackrecord.wire.memory import checked_text

from ..database.upsert import insert_rows
from ..outcomes.feedback.feedback import forget_feedback
from ..outcomes.projects import note_change
from .credit import SUPERSEDED, Judge, judge_by_feedback, record_judgement
from .read import (
    MEMORIES_READ,
    StateChange,
    StoredMemory,
    complete,
    find_memory,
    held_row,
    memory_state,
    record_changes,
)
from .similar import SimilarMemory, lock_memories, mark, mark_new, similar_memories, unmark
from .tables import memories, memory_changes, memory_sources


@dataclass(frozen=True)
class RememberedMemory:
    """The result of remembering a text.

    Attributes:
        memory: the memory that says so now: a new one, or the one that was there.
        is_new: which of the two.
        similarity: how alike the text and the one that was there are; None for a new one.
    """

    memory: StoredMemory
    is_new: bool
    similarity: float | None = None


def remember(
    connection: Connection,
    project_id: int,
    text: str,
    *,
    memory_id: str,
    rules: MemoryRules,
    now: float,
    source: str | None = None,
    force: bool = False,
) -> RememberedMemory:
    """Store a memory, unless it is on record already.

    A text that is the same memory adds its source and changes nothing else. Otherwise it is stored,
    and supersedes each memory that it contradicts and that no other has superseded yet.

    Args:
        connection: within a writing transaction.
        project_id: whose memory.
        text: what is to be remembered.
        memory_id: the id of a new memory; one that is known already makes this a repetition, which
            changes nothing.
        rules: what is the same, and what conflicts.
        now: seconds since the epoch.
        source: who says so.
        force: store it whatever it is similar to; it supersedes nothing.

    Raises:
        InvalidMemory: the text is blank, too long, or holds what databases have no room for.
    """
    text = checked_text(text)
    # Of two agents who store the same text at once, the second one finds that of the first.
    lock_memories(connection, project_id)
    mark_new(connection, project_id, rules)
    with suppress(UnknownId):
        return RememberedMemory(find_memory(connection, project_id, memory_id), is_new=False)
    similar: list[SimilarMemory] = []
    if not force:
        similar = similar_memories(connection, project_id, text, CONFLICT_FROM)
    alike = _by_likeness(text, similar)
    if same := alike[Likeness.SAME]:
        best = max(same, key=_best)
        _add_source(connection, best.row.id, source, now)
        found = find_memory(connection, project_id, best.row.memory_id)
        return RememberedMemory(found, is_new=False, similarity=best.similarity)
    _store(connection, project_id, memory_id, text, rules, source=source, now=now)
    judge_by_feedback(connection, project_id, [memory_id], rules, now=now)
    for each in sorted(alike[Likeness.CONTRADICTS], key=lambda each: each.row.id):
        _supersede(connection, project_id, each.row.memory_id, memory_id, rules, now=now)
    note_change(connection, project_id, now)
    return RememberedMemory(find_memory(connection, project_id, memory_id), is_new=True)


def _by_likeness(
    text: str, similar: Sequence[SimilarMemory]
) -> dict[Likeness, list[SimilarMemory]]:
    plain = without_prefix(text)
    found: dict[Likeness, list[SimilarMemory]] = {kind: [] for kind in Likeness}
    for memory in similar:
        stored = without_prefix(memory.row.text)
        found[compare(stored, plain, memory.similarity)].append(memory)
    return found


def _best(each: SimilarMemory) -> tuple[bool, float, int]:
    """Among several that are the same: one that holds, the most similar one, the oldest one."""
    return each.row.superseded_by is None, each.similarity, -each.row.id


def _add_source(connection: Connection, row: int, source: str | None, now: float) -> None:
    if source:
        columns = tuple(memory_sources.c)
        insert_rows(connection, memory_sources, columns, [(row, source, now)])


def _store(
    connection: Connection,
    project_id: int,
    memory_id: str,
    text: str,
    rules: MemoryRules,
    *,
    source: str | None,
    now: float,
) -> None:
    state = MemoryState(MemoryType.MEMORY, rules.confidence, now)
    row = connection.execute(
        insert(memories)
        .values(
            project_id=project_id,
            memory_id=memory_id,
            text=text,
            type=state.type.value,
            confidence=state.confidence,
            created_at=now,
            changes=1,
            changed_at=now,
            standing=standing_at_any_time(rules, state),
            size_class=0,
        )
        .returning(*memories.c)
    ).one()
    connection.execute(
        insert(memory_changes).values(
            memory=row.id,
            number=1,
            at=now,
            action="stored",
            type=state.type.value,
            confidence=state.confidence,
        )
    )
    _add_source(connection, row.id, source, now)
    mark(connection, project_id, [row], rules)


def _supersede(
    connection: Connection,
    project_id: int,
    older: str,
    newer: str,
    rules: MemoryRules,
    *,
    now: float,
) -> None:
    row = held_row(connection, project_id, older)
    if row.superseded_by is None:
        after = superseded(rules, memory_state(row))
        change = StateChange(row, SUPERSEDED, after, because_of=newer, superseded_by=newer)
        record_changes(connection, rules, [change], now=now)


def _judge(
    judge: Judge,
    connection: Connection,
    project_id: int,
    memory_id: str,
    *,
    rules: MemoryRules,
    now: float,
) -> StoredMemory:
    """Note by hand how a memory did; answers it as it then is.

    Raises:
        UnknownId: the project has no such memory.
    """
    row = held_row(connection, project_id, memory_id)
    record_judgement(connection, row, judge, rules, now=now)
    note_change(connection, project_id, now)
    return find_memory(connection, project_id, memory_id)


confirm = partial(_judge, confirmed)
reject = partial(_judge, rejected)


def forget(connection: Connection, project_id: int, memory_id: str, *, now: float) -> None:
    """Erase a memory with its history; its predecessors are current again.

    Raises:
        UnknownId: the project has no such memory.
    """
    lock_memories(connection, project_id)
    row = held_row(connection, project_id, memory_id)
    older = select(memories.c.id).where(
        memories.c.project_id == project_id, memories.c.superseded_by == memory_id
    )
    ids = sorted(connection.execute(older).scalars())
    for number in ids:
        connection.execute(
            update(memory_changes)
            .where(memory_changes.c.memory == number, memory_changes.c.superseded_by == memory_id)
            .values(superseded_by=None, because_of=None)
        )
        connection.execute(
            update(memories).where(memories.c.id == number).values(superseded_by=None)
        )
    forget_feedback(connection, project_id, "memory", memory_id)
    erase(connection, row)
    note_change(connection, project_id, now)


def erase(connection: Connection, row: Row[Any]) -> None:
    """Erase a memory whose row is locked, with its history and its index entries."""
    unmark(connection, row)
    connection.execute(delete(memories).where(memories.c.id == row.id))


@dataclass(frozen=True)
class MemoryFilter:
    """The filter of a list of memories; fields that are not set match everything.

    Attributes:
        type: only those of this type.
        source: only those that this source stored.
        min_confidence: only those with at least this stored confidence.
    """

    type: MemoryType | None = None
    source: str | None = None
    min_confidence: float | None = None


def list_memories(
    connection: Connection,
    project_id: int,
    wanted: MemoryFilter = MemoryFilter(),
    *,
    limit: int | None = None,
    after: tuple[float, int] | None = None,
) -> list[StoredMemory]:
    """Return memories of a project, newest first.

    With `after`, the time and the row of one of them, only those that follow it.
    """
    query = matching_memories(project_id, wanted)
    if after is not None:
        query = query.where(tuple_(memories.c.created_at, memories.c.id) < tuple(after))
    query = query.order_by(memories.c.created_at.desc(), memories.c.id.desc()).limit(limit)
    return complete(connection, connection.execute(query).all())


def count_matching(connection: Connection, project_id: int, wanted: MemoryFilter) -> int:
    """Return how many memories `list_memories` would return without a limit."""
    query = matching_memories(project_id, wanted).subquery()
    return connection.execute(select(func.count()).select_from(query)).scalar_one()


def matching_memories(project_id: int, wanted: MemoryFilter) -> Select[Any]:
    """Return the query for memories that match a filter, in no order."""
    query = MEMORIES_READ.where(memories.c.project_id == project_id)
    if wanted.type is not None:
        query = query.where(memories.c.type == wanted.type.value)
    if wanted.min_confidence is not None:
        query = query.where(memories.c.confidence >= wanted.min_confidence)
    if wanted.source is not None:
        query = query.where(_is_said_by(wanted.source))
    return query


def _is_said_by(source: str) -> ColumnElement[bool]:
    said = memory_sources.c
    query = select(said.memory).where(said.memory == memories.c.id, said.source == source)
    return query.exists()
