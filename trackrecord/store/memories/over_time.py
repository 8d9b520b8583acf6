"""The confidence of memories at many past moments."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, select

from trackrecord.learning.memories.rules import MemoryRules, faded

from .tables import memories, memory_changes


def memories_over_time(
    connection: Connection,
    project_id: int,
    memory_ids: Sequence[str],
    rules: MemoryRules,
    moments: Sequence[float],
) -> Mapping[str, list[float | None]]:
    """Return the effective confidence of memories at each moment; None before they were stored.

    Args:
        connection: a reading transaction.
        project_id: whose memories.
        memory_ids: which memories; unknown ones are left out.
        rules: how confidence decays.
        moments: rising.
    """
    then = memory_changes.c
    query = (
        select(
            memories.c.memory_id,
            memories.c.created_at,
            then.at,
            then.confidence,
            then.last_recalled_at,
        )
        .join(memories, memories.c.id == then.memory)
        .where(memories.c.project_id == project_id, memories.c.memory_id.in_(memory_ids))
        .order_by(then.memory, then.number)
    )
    found: dict[str, list[float | None]] = {}
    for row in connection.execute(query):
        values = found.setdefault(row.memory_id, [None] * len(moments))
        clock = row.created_at if row.last_recalled_at is None else row.last_recalled_at
        for number in reversed(range(len(moments))):
            if moments[number] < row.at:
                break
            values[number] = faded(rules, row.confidence, clock, moments[number])
    return found
