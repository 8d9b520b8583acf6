"""Credit of amended outcomes: memories are as if only the last record had come.

Confirming and rejecting stop at bounds, so a judgement cannot be subtracted. The changes of the
memory are gone through again, with another judgement in the place of the old one.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from sqlalchemy import Connection, Row, select

from trackrecord.learning.memories.rules import (
    MemoryRules,
    MemoryState,
    MemoryType,
    confirmed,
    rejected,
    superseded,
)
from trackrecord.learning.outcomes.scoring import Verdict

from ..read import StateChange, held_row, memory_state, record_changes
from ..tables import memories, memory_changes
from .judging import Judge

# What a change says that puts one judgement in the place of another.
NOW_CONFIRMED: Final = "now confirmed"
NOW_REJECTED: Final = "now rejected"
NOW_NEITHER: Final = "now neither"

# What each action does to where a memory stands; None: nothing.
JUDGES: Final[dict[str, Judge | None]] = {
    "confirmed": confirmed,
    "rejected": rejected,
    "inverted": rejected,
    NOW_CONFIRMED: confirmed,
    NOW_REJECTED: rejected,
    NOW_NEITHER: None,
}
_AMENDED: Final[dict[Verdict | None, str]] = {
    Verdict.HELPFUL: NOW_CONFIRMED,
    Verdict.HARMFUL: NOW_REJECTED,
}


def amend_credit(
    connection: Connection,
    project_id: int,
    outcome_id: str,
    memory_ids: tuple[Sequence[str], Sequence[str]],
    verdict: Verdict | None,
    rules: MemoryRules,
    now: float,
) -> None:
    """Let memories be judged by the record of an outcome that counts now.

    Args:
        connection: within the transaction that replaces the record.
        project_id: whose memories.
        outcome_id: the outcome.
        memory_ids: those that the record before names, and those that it names now.
        verdict: the verdict of the record that counts now.
        rules: how far a confirmation or rejection reaches.
        now: seconds since the epoch.
    """
    before, after = memory_ids
    for name in sorted({*before, *after}):
        if _is_known(connection, project_id, name):
            is_judged = verdict is not None and name in after
            action = _AMENDED.get(verdict, NOW_NEITHER) if is_judged else NOW_NEITHER
            row = held_row(connection, project_id, name)
            _judge_again(connection, row, outcome_id, action, rules, now)


def _is_known(connection: Connection, project_id: int, memory_id: str) -> bool:
    query = select(memories.c.id).where(
        memories.c.project_id == project_id, memories.c.memory_id == memory_id
    )
    return connection.execute(query).first() is not None


def _judge_again(
    connection: Connection,
    row: Row[Any],
    outcome_id: str,
    action: str,
    rules: MemoryRules,
    now: float,
) -> None:
    changes = _changes(connection, row)
    judged = next((each for each in reversed(changes) if _is_by(each, outcome_id)), None)
    if JUDGES[action] is (None if judged is None else JUDGES[judged.action]):
        return
    after = _state_after(changes, (action, outcome_id), row, rules)
    record_changes(connection, rules, [StateChange(row, action, after, outcome_id)], now=now)


def _is_by(change: Row[Any], outcome_id: str) -> bool:
    return change.action in JUDGES and change.because_of == outcome_id


def _changes(connection: Connection, row: Row[Any]) -> list[Row[Any]]:
    table = memory_changes.c
    query = select(table.action, table.because_of, table.type, table.confidence).where(
        table.memory == row.id
    )
    return list(connection.execute(query.order_by(table.number)))


def _state_after(
    changes: Sequence[Row[Any]], last: tuple[str, str], row: Row[Any], rules: MemoryRules
) -> MemoryState:
    """Return a memory's state after its changes and a last one.

    Each amendment takes effect in the place of what it amends.
    """
    actions: list[str] = []
    place_of: dict[str, int] = {}
    for action, because_of in [*((each.action, each.because_of) for each in changes), last]:
        if action in JUDGES and because_of is not None:
            if because_of in place_of:
                actions[place_of[because_of]] = action
                continue
            place_of[because_of] = len(actions)
        actions.append(action)
    now, first = memory_state(row), changes[0]
    state = MemoryState(MemoryType(first.type), first.confidence, now.clock)
    for action in actions:
        judge = JUDGES.get(action)
        if judge is not None:
            state = judge(rules, state)
        elif action == "superseded":
            state = superseded(rules, state)
    return replace(state, is_superseded=now.is_superseded)
