"""Judging a memory whose row is held: it was right, or it was wrong."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Row

from trackrecord.learning.memories.rules import MemoryRules, MemoryState, confirmed

from ..read import StateChange, memory_state, record_changes

Judge = Callable[[MemoryRules, MemoryState], MemoryState]


def record_judgement(
    connection: Connection,
    row: Row[Any],
    judge: Judge,
    rules: MemoryRules,
    *,
    now: float,
    because_of: str | None = None,
) -> None:
    """Confirm or reject a memory whose row is held."""
    before = memory_state(row)
    after = judge(rules, before)
    action = "confirmed" if judge is confirmed else "rejected"
    if after.type is not before.type:
        action = "inverted"
    record_changes(connection, rules, [StateChange(row, action, after, because_of)], now=now)
