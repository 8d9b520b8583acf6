"""Recalling memories: by words of a question, ranked by relevance and by decayed confidence."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, Row, select

from ..learning.memories import MemoryRules, effective_confidence, recall_rank
from ..learning.search_words import asked_words, lexemes
from .holding import held
from .memory_rows import CHUNK, Memory, as_of, complete, record_change, state_of
from .memory_tables import memories
from .word_index import MEMORY_WORDS

DEFAULT_LIMIT = 5


@dataclass(frozen=True)
class Recalled:
    """A memory that was recalled.

    Attributes:
        memory: the memory.
        relevance: how well it fits the question, 0..1.
        effective_confidence: its confidence, decayed to the moment of the question.
        rank: what it is ranked by.
    """

    memory: Memory
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
    at: float | None = None,
) -> list[Recalled]:
    """The memories that fit a question best, the best first; it changes nothing.

    Args:
        connection: a transaction.
        project_id: whose memories.
        text: the question.
        rules: how they are ranked.
        now: seconds since the epoch.
        limit: how many at most.
        min_confidence: the decayed confidence that is wanted at least.
        at: a past moment to answer for.
    """
    moment = now if at is None else at
    words = lexemes(project_id, asked_words(text))
    relevance = {
        hit.row: hit.relevance
        for hit in MEMORY_WORDS.search(connection, words, rules.max_candidates)
    }
    rows = list(relevance)
    found: dict[int, Row[Any]] = {}
    for start in range(0, len(rows), CHUNK):
        query = as_of(at).where(
            memories.c.project_id == project_id, memories.c.id.in_(rows[start : start + CHUNK])
        )
        found |= {row.id: row for row in connection.execute(query)}
    # At a past moment the best of those that were there is the measure.
    best = max((relevance[row] for row in found), default=1.0)
    ranked = []
    for number, row in found.items():
        fits = relevance[number] / best
        effective = effective_confidence(rules, state_of(row), moment)
        if effective >= min_confidence:
            ranked.append((recall_rank(rules, fits, effective), fits, effective, row))
    ranked.sort(key=lambda each: (-each[0], -each[3].created_at, each[3].memory_id))
    chosen = ranked[:limit]
    complete_ones = complete(connection, [row for *_, row in chosen], at=at)
    return [
        Recalled(memory, fits, effective, rank)
        for memory, (rank, fits, effective, _) in zip(complete_ones, chosen, strict=True)
    ]


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
    for row in connection.execute(held(connection, query, memories)).all():
        before = state_of(row)
        if now > before.clock:
            after = replace(before, clock=now)
            record_change(connection, rules, row, "recalled", after, now=now, recalled_at=now)
