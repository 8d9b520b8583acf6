"""Credit: outcomes confirm and reject the memories that they used.

Confirming and rejecting stop at bounds, so their order matters: it is the one in which outcomes are
received, within what one batch brings; batches count in the order of their commits.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
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
from trackrecord.wire.outcome_scorer import ScoredOutcome

from ...database.leases import for_update
from ..read import CHUNK, StateChange, held_row, memory_state, record_changes
from ..tables import memories, memory_changes

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


_JUDGES = {Verdict.HELPFUL: confirmed, Verdict.HARMFUL: rejected}


def credit_memories(
    connection: Connection,
    project_ids: Mapping[str, int],
    recorded: Iterable[ScoredOutcome],
    rules: MemoryRules,
    now: float,
) -> None:
    """Confirm what helpful outcomes used, reject what harmful ones did; unknown ids are passed.

    Args:
        connection: within the intake's transaction.
        project_ids: the rows of projects by name.
        recorded: outcomes that are new, so that each has its say exactly once.
        rules: how far a confirmation or rejection reaches.
        now: seconds since the epoch.
    """
    judging = [
        (each, _JUDGES[each.verdict])
        for each in recorded
        if each.memory_ids and each.verdict in _JUDGES
    ]
    if not judging:
        return
    judging.sort(key=lambda pair: (pair[0].received_at, pair[0].project, pair[0].outcome_id))
    keys = {(project_ids[each.project], name) for each, _ in judging for name in each.memory_ids}
    known = lock_existing(connection, keys)
    for outcome, judge in judging:
        for name in outcome.memory_ids:
            key = (project_ids[outcome.project], name)
            if key in known:
                record_judgement(
                    connection,
                    memory_row(connection, *key),
                    judge,
                    rules,
                    now=now,
                    because_of=outcome.outcome_id,
                )


def lock_existing(connection: Connection, keys: set[tuple[int, str]]) -> set[tuple[int, str]]:
    """Lock the memories that exist, in id order: transactions cannot deadlock; return their keys.

    Args:
        connection: within a writing transaction.
        keys: the project of each memory, and its id.
    """
    known: set[tuple[int, str]] = set()
    for project_id, group in groupby(sorted(keys), key=itemgetter(0)):
        names = [name for _, name in group]
        for start in range(0, len(names), CHUNK):
            query = (
                select(memories.c.project_id, memories.c.memory_id)
                .where(memories.c.project_id == project_id)
                .where(memories.c.memory_id.in_(names[start : start + CHUNK]))
                .order_by(memories.c.id)
            )
            rows = connection.execute(for_update(connection, query, memories))
            known.update((row.project_id, row.memory_id) for row in rows)
    return known


def memory_row(connection: Connection, project_id: int, memory_id: str) -> Row[Any]:
    """Read a memory that exists, again each time: a batch may judge it more than once."""
    query = select(memories).where(
        memories.c.project_id == project_id, memories.c.memory_id == memory_id
    )
    return connection.execute(query).one()


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
