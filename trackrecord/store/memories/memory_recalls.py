"""Memories that agents were given at prompt time: each counts as a recall once a day."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from sqlalchemy import Connection, func, select

from trackrecord.learning.memories.rules import MemoryRules, recall_clock

from ..database.leases import for_update
from .read import CHUNK, StateChange, memory_state, record_changes
from .tables import memories

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
    names = sorted(waiting)
    for start in range(0, len(names), CHUNK):
        _note(
            connection, project_id, [waiting[name] for name in names[start : start + CHUNK]], rules
        )


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
