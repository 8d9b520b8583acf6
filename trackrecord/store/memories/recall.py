"""Recalling memories: by words of a question, ranked by relevance and by decayed confidence."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Select, func, select

from trackrecord.learning.memories.rules import MAX_CANDIDATES, MemoryRules, faded, recall_rank
from trackrecord.learning.text.search_words import asked_words, lexemes

from ..database.engine import dialect_of
from ..database.full_text import MEMORY_WORDS
from ..database.leases import for_update
from .read import (
    MEMORIES_READ,
    StateChange,
    StoredMemory,
    complete,
    memory_state,
    record_changes,
)
from .tables import memories

DEFAULT_LIMIT = 5
_LOOK_AT_ONCE = 500
# What memories are ranked by.
_NUMBERS: Final[Select[Any]] = select(
    memories.c.id,
    memories.c.confidence,
    func.coalesce(memories.c.last_recalled_at, memories.c.created_at),
    memories.c.created_at,
    memories.c.memory_id,
)


@dataclass(frozen=True)
class RecalledRow:
    """A memory that was recalled.

    Attributes:
        memory: the memory.
        relevance: how well it fits the question, 0..1.
        effective_confidence: its confidence, decayed to the moment of the question.
        rank: what it is ranked by.
    """

    memory: StoredMemory
    relevance: float
    effective_confidence: float
    rank: float


def recall(
    connection: Connection,
    project_id: int,
    text: str,
    *,
    rules: MemoryRules,
    now: float,
    limit: int = DEFAULT_LIMIT,
    min_confidence: float = 0.0,
) -> list[RecalledRow]:
    """The memories that fit a question best, the best first; it changes nothing.

    A superseded memory is left out where the one that superseded it is recalled.

    Args:
        connection: a transaction.
        project_id: whose memories.
        text: the question.
        rules: how they are ranked.
        now: seconds since the epoch.
        limit: how many at most.
        min_confidence: the decayed confidence that is wanted at least.
    """
    wanted = 2 * limit  # at worst each of them supersedes another one
    words = lexemes(project_id, asked_words(text))
    hits = MEMORY_WORDS.search(connection, words, MAX_CANDIDATES)
    ranked: list[_Ranked] = []
    for start in range(0, len(hits), _LOOK_AT_ONCE):
        some = {hit.row: hit.relevance for hit in hits[start : start + _LOOK_AT_ONCE]}
        if len(ranked) >= wanted and not _may_be_better(hits[start].relevance, ranked[-1]):
            break
        # The index has found none but the project's: to say so again would mislead the planner.
        query = _NUMBERS.where(dialect_of(connection).is_among(memories.c.id, some))
        for row, confidence, clock, created_at, memory_id in connection.execute(query).all():
            effective = faded(rules, confidence, clock, now)
            if effective >= min_confidence:
                fits = some[row]
                rank = recall_rank(fits, effective)
                ranked.append(_Ranked(-rank, -created_at, memory_id, fits, effective, row))
        ranked = sorted(ranked)[:wanted]
    rows = [each.row for each in ranked]
    query = MEMORIES_READ.where(dialect_of(connection).is_among(memories.c.id, rows))
    found = {each.row: each for each in complete(connection, connection.execute(query).all())}
    recalled = {memory.id for memory in found.values()}
    return [
        RecalledRow(found[entry.row], entry.relevance, entry.effective, -entry.worst)
        for entry in ranked
        if found[entry.row].superseded_by not in recalled
    ][:limit]


class _Ranked(NamedTuple):
    """Sorts the best first: by rank, then the newest, then by id."""

    worst: float
    oldest: float
    memory_id: str
    relevance: float
    effective: float
    row: int


def _may_be_better(relevance: float, last: _Ranked) -> bool:
    """Return whether a memory of that relevance may rank before the last one, at full trust."""
    return recall_rank(relevance, 1.0) >= -last.worst


def reset_clocks(
    connection: Connection, rows: Collection[int], *, rules: MemoryRules, now: float
) -> None:
    """Let memories that were recalled decay from now on; those forgotten meanwhile are passed.

    Args:
        connection: within a writing transaction.
        rows: the memories' rows.
        rules: what their order is computed by.
        now: seconds since the epoch.
    """
    query = select(memories).where(memories.c.id.in_(rows)).order_by(memories.c.id)
    changes = []
    for row in connection.execute(for_update(connection, query, memories)).all():
        before = memory_state(row)
        if now > before.clock:
            after = replace(before, clock=now)
            changes.append(StateChange(row, "recalled", after, recalled_at=now))
    record_changes(connection, rules, changes, now=now)
