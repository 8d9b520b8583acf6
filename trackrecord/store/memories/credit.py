"""Credit: outcomes and feedback confirm and reject memories.

Confirming and rejecting stop at bounds, so their order matters: it is the one in which they are
received, within what one batch brings; batches count in the order of their commits.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b
from typing import Any, Final

from sqlalchemy import Connection, Row, select

from trackrecord.errors import UnknownId
from trackrecord.learning.memories.rules import (
    MemoryRules,
    MemoryState,
    MemoryType,
    confirmed,
    rejected,
    superseded,
)
from trackrecord.learning.outcomes.scoring import Verdict
from trackrecord.wire.outcome_scorer import MAX_MEMORY_ID, ScoredOutcome

from ..database.leases import for_update
from ..database.parts import in_parts_by_project
from ..outcomes.feedback.feedback import note_counted, waiting_feedback
from .read import StateChange, held_row, memory_state, record_changes
from .tables import memories, memory_changes

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


# A neutral verdict judges nothing.
_JUDGES: Final[dict[str, Judge]] = {Verdict.HELPFUL: confirmed, Verdict.HARMFUL: rejected}
_DIGEST_BYTES: Final = 16


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
    judging = [each for each in recorded if each.memory_ids and each.verdict in _JUDGES]
    judging.sort(key=lambda each: (each.received_at, each.project, each.outcome_id))
    told = [
        ((project_ids[each.project], name), str(each.verdict), each.outcome_id)
        for each in judging
        for name in each.memory_ids
    ]
    _judge_known(connection, told, rules, now)


def judge_by_feedback(
    connection: Connection,
    project_id: int,
    memory_ids: Iterable[str],
    rules: MemoryRules,
    *,
    now: float,
) -> None:
    """Judge memories by the feedback that waits for them, where they are on record.

    Args:
        connection: within a writing transaction that holds the project's memories.
        project_id: whose memories.
        memory_ids: which ones.
        rules: how far a confirmation or rejection reaches.
        now: seconds since the epoch.
    """
    waiting = waiting_feedback(connection, project_id, "memory", memory_ids)
    told = [((project_id, row.name), row.verdict, cause_of(row.feedback_id)) for row in waiting]
    known = _judge_known(connection, told, rules, now)
    note_counted(connection, [row for row in waiting if (project_id, row.name) in known])


def cause_of(feedback_id: str) -> str:
    """Return the name of feedback in a memory's history, unlike any outcome's id."""
    cause = f"feedback:{feedback_id}"
    if len(cause) <= MAX_MEMORY_ID:
        return cause
    return f"feedback:{blake2b(feedback_id.encode(), digest_size=_DIGEST_BYTES).hexdigest()}"


def _judge_known(
    connection: Connection,
    told: Sequence[tuple[tuple[int, str], str, str]],
    rules: MemoryRules,
    now: float,
) -> set[tuple[int, str]]:
    """Judge the memories that exist, and return their keys.

    Args:
        connection: within a writing transaction.
        told: the project of each memory with its id, the verdict, and what says so.
        rules: how far a confirmation or rejection reaches.
        now: seconds since the epoch.
    """
    known = _lock_existing(connection, {key for key, _, _ in told})
    for key, verdict, because_of in told:
        judge = _JUDGES.get(verdict)
        if judge is not None and key in known:
            # Read again each time: a memory may be judged more than once.
            row = held_row(connection, *key)
            record_judgement(connection, row, judge, rules, now=now, because_of=because_of)
    return known


def _lock_existing(connection: Connection, keys: set[tuple[int, str]]) -> set[tuple[int, str]]:
    """Lock those that exist, in id order: transactions cannot deadlock; return their keys."""
    known: set[tuple[int, str]] = set()
    for project_id, some in in_parts_by_project(keys):
        query = (
            select(memories.c.project_id, memories.c.memory_id)
            .where(memories.c.project_id == project_id, memories.c.memory_id.in_(some))
            .order_by(memories.c.id)
        )
        rows = connection.execute(for_update(connection, query, memories))
        known.update((row.project_id, row.memory_id) for row in rows)
    return known


# What a change says that puts one judgement in the place of another.
NOW_CONFIRMED: Final = "now confirmed"
NOW_REJECTED: Final = "now rejected"
NOW_NEITHER: Final = "now neither"
SUPERSEDED: Final = "superseded"

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
        with suppress(UnknownId):
            row = held_row(connection, project_id, name)
            is_judged = verdict is not None and name in after
            action = _AMENDED.get(verdict, NOW_NEITHER) if is_judged else NOW_NEITHER
            _judge_again(connection, row, outcome_id, action, rules, now)


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
    now_is, first = memory_state(row), changes[0]
    before = MemoryState(MemoryType(first.type), first.confidence, now_is.clock)
    told = [*((each.action, each.because_of) for each in changes), (action, outcome_id)]
    after = replace(replayed(before, told, rules), is_superseded=now_is.is_superseded)
    record_changes(connection, rules, [StateChange(row, action, after, outcome_id)], now=now)


def _is_by(change: Row[Any], outcome_id: str) -> bool:
    return change.action in JUDGES and change.because_of == outcome_id


def _changes(connection: Connection, row: Row[Any]) -> list[Row[Any]]:
    table = memory_changes.c
    query = select(table.action, table.because_of, table.type, table.confidence).where(
        table.memory == row.id
    )
    return list(connection.execute(query.order_by(table.number)))


def replayed(
    state: MemoryState, changes: Iterable[tuple[str, str | None]], rules: MemoryRules
) -> MemoryState:
    """Return the state of a memory after some changes, each with its action and its cause.

    Each amendment takes effect in the place of what it amends.
    """
    actions: list[str] = []
    place_of: dict[str, int] = {}
    for action, because_of in changes:
        if action in JUDGES and because_of is not None:
            if because_of in place_of:
                actions[place_of[because_of]] = action
                continue
            place_of[because_of] = len(actions)
        actions.append(action)
    for action in actions:
        judge = superseded if action == SUPERSEDED else JUDGES.get(action)
        if judge is not None:
            state = judge(rules, state)
    return state
