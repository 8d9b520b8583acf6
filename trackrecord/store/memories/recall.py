"""Recalling memories by the words of a question, and noting which ones prompts recalled."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Select, func, select

from trackrecord.learning.memories.rules import (
    MAX_CANDIDATES,
    MemoryRules,
    faded,
    recall_clock,
    recall_rank,
)
from trackrecord.learning.text.words import asked_words, lexemes

from ..database.engine import dialect_of
from ..database.full_text import MEMORY_WORDS
from ..database.leases import for_update
from ..database.parts import in_parts
from .read import MEMORIES_READ, StateChange, StoredMemory, complete, memory_state, record_changes
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
    for part in in_parts(hits):
        some = {hit.row: hit.relevance for hit in part}
        if len(ranked) >= wanted and not _may_be_better(part[0].relevance, ranked[-1]):
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


# What a change says that this brought about.
HANDED_OUT: Final = "handed out"


@dataclass(frozen=True)
class PromptRecall:
    """A memory that was recalled.

    Attributes:
        memory_id: its id.
        at: when, seconds since the epoch.
        received_at: when that was received: before, no answer about the past knows it.
        exposure_id: the exposure that says so; None where no task was handed it.
    """

    memory_id: str
    at: float
    received_at: float
    exposure_id: str | None = None

    @property
    def clock(self) -> float:
        """From when the memory decays."""
        return recall_clock(self.at)


def record_recalls(
    connection: Connection, project_id: int, handed: Iterable[PromptRecall], *, rules: MemoryRules
) -> None:
    """Restart the decay of recalled memories from that day on.

    Neither the order nor repetitions make a difference, see `recall_clock`. Unknown memories
    are passed.

    Args:
        connection: within a writing transaction.
        project_id: whose memories.
        handed: in any order.
        rules: what the order of memories is computed by.
    """
    waiting = _that_may_count(handed)
    for some in in_parts(sorted(waiting)):
        _note(connection, project_id, [waiting[name] for name in some], rules)


def _that_may_count(handed: Iterable[PromptRecall]) -> dict[str, list[PromptRecall]]:
    """Return the recalls of each memory, in the order of receipt, that are on a later day."""
    found: defaultdict[str, list[PromptRecall]] = defaultdict(list)
    for each in sorted(handed, key=lambda each: (each.received_at, each.at)):
        own = found[each.memory_id]
        if not own or each.clock > own[-1].clock:
            own.append(each)
    return found


def _note(
    connection: Connection, project_id: int, waiting: list[list[PromptRecall]], rules: MemoryRules
) -> None:
    """Note one day of each memory after the other: each is a change of its own."""
    while waiting:
        due = {own[0].memory_id: own[0] for own in waiting}
        _recall(connection, project_id, due, rules)
        waiting = [own[1:] for own in waiting if len(own) > 1]


def _recall(
    connection: Connection, project_id: int, due: dict[str, PromptRecall], rules: MemoryRules
) -> None:
    clock = func.coalesce(memories.c.last_recalled_at, memories.c.created_at)
    query = (
        select(memories)
        .where(memories.c.project_id == project_id, memories.c.memory_id.in_(due))
        # Nearly all that is handed out was handed out that day before: nothing is held for it.
        .where(clock < max(each.clock for each in due.values()))
        .order_by(memories.c.id)
    )
    for row in connection.execute(for_update(connection, query, memories)).all():
        before, handed = memory_state(row), due[row.memory_id]
        if handed.clock > before.clock:
            after = replace(before, clock=handed.clock)
            change = StateChange(
                row, HANDED_OUT, after, because_of=handed.exposure_id, recalled_at=handed.clock
            )
            record_changes(connection, rules, [change], now=handed.received_at)
