"""Rewrite the history of memories, without what was forgotten.

Confirming and rejecting stop at bounds, so that a judgement cannot be subtracted: the changes that
remain are gone through from the first one on.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import Connection, Row, delete, insert, select, update

from trackrecord.learning.memories.comparison import CONFLICT_FROM, Likeness, compare
from trackrecord.learning.memories.rules import (
    MemoryRules,
    MemoryState,
    MemoryType,
    standing_at_any_time,
    superseded,
    without_prefix,
)

from ..outcomes.feedback.waiting_feedback import wait_for
from .credit.amended_credit import JUDGES
from .memory_recalls import HANDED_OUT
from .read import CHUNK
from .similar import similar_memories
from .tables import memories, memory_changes, memory_sources
from .write import erase

_SUPERSEDED: Final = "superseded"
_RECALLED: Final = "recalled"


@dataclass(frozen=True)
class _Change:
    """A change of a memory, without where it led."""

    at: float
    action: str
    because_of: str | None
    last_recalled_at: float | None


def forget_memories(
    connection: Connection, project_id: int, memory_ids: Collection[str], rules: MemoryRules
) -> None:
    """Erase memories; those that they superseded are as if these had never been.

    Args:
        connection: within a writing transaction that holds the project's memories.
        project_id: whose memories.
        memory_ids: which ones.
        rules: where the others stand then.
    """
    gone = sorted(memory_ids)
    freed: list[Row[Any]] = []
    for start in range(0, len(gone), CHUNK):
        some = gone[start : start + CHUNK]
        own = memories.c.project_id == project_id
        freed += connection.execute(
            select(memories).where(own, memories.c.superseded_by.in_(some))
        ).all()
        for row in connection.execute(
            select(memories).where(own, memories.c.memory_id.in_(some)).order_by(memories.c.id)
        ).all():
            erase(connection, row)
    wait_for(connection, project_id, "memory", gone)
    for row in sorted(freed, key=lambda each: each.id):
        if row.memory_id not in memory_ids:
            write_history(connection, row, frozenset(gone), rules)


def drop_source(connection: Connection, rows: Collection[int], source: str) -> None:
    """Remove a source from memories that others had stored before."""
    ids = sorted(rows)
    for start in range(0, len(ids), CHUNK):
        connection.execute(
            delete(memory_sources).where(
                memory_sources.c.memory.in_(ids[start : start + CHUNK]),
                memory_sources.c.source == source,
            )
        )


def judged_by(
    connection: Connection, project_id: int, outcome_ids: Collection[str]
) -> list[Row[Any]]:
    """Return the memories that outcomes have judged."""
    return _changed_by(connection, project_id, JUDGES, outcome_ids)


def handed_out_by(
    connection: Connection, project_id: int, exposure_ids: Collection[str]
) -> list[Row[Any]]:
    """Return the memories that have stayed fresh because of exposures."""
    return _changed_by(connection, project_id, (HANDED_OUT,), exposure_ids)


def _changed_by(
    connection: Connection, project_id: int, actions: Collection[str], names: Collection[str]
) -> list[Row[Any]]:
    wanted = sorted(names)
    found: set[int] = set()
    for start in range(0, len(wanted), CHUNK):
        query = (
            select(memory_changes.c.memory)
            .join(memories, memories.c.id == memory_changes.c.memory)
            .where(
                memories.c.project_id == project_id,
                memory_changes.c.action.in_(actions),
                memory_changes.c.because_of.in_(wanted[start : start + CHUNK]),
            )
        )
        found.update(connection.execute(query).scalars())
    rows: list[Row[Any]] = []
    ids = sorted(found)
    for start in range(0, len(ids), CHUNK):
        query_rows = select(memories).where(memories.c.id.in_(ids[start : start + CHUNK]))
        rows += connection.execute(query_rows.order_by(memories.c.id)).all()
    return rows


def write_history(
    connection: Connection, row: Row[Any], without: frozenset[str], rules: MemoryRules
) -> None:
    """Rewrite a memory's changes.

    Args:
        connection: within a writing transaction that holds the project's memories.
        row: the memory as it is on record.
        without: the outcomes, exposures and memories that brought nothing about.
        rules: how far each change reaches.
    """
    table = memory_changes.c
    known = connection.execute(
        select(memory_changes).where(table.memory == row.id).order_by(table.number)
    ).all()
    first, *rest = [
        _Change(each.at, each.action, each.because_of, each.last_recalled_at) for each in known
    ]
    kept = [each for each in rest if each.because_of is None or each.because_of not in without]
    if len(kept) < len(rest) and not any(each.action == _SUPERSEDED for each in kept):
        kept = _superseded_by_another(connection, row, kept, rest)
    written = _written([first, *kept], known[0], rules)
    connection.execute(delete(memory_changes).where(table.memory == row.id))
    connection.execute(insert(memory_changes), [{"memory": row.id} | each for each in written])
    last = written[-1]
    clock = last["last_recalled_at"] or row.created_at
    state = MemoryState(MemoryType(last["type"]), last["confidence"], clock)
    connection.execute(
        update(memories)
        .where(memories.c.id == row.id)
        .values(
            type=last["type"],
            confidence=last["confidence"],
            last_recalled_at=last["last_recalled_at"],
            superseded_by=last["superseded_by"],
            changes=last["number"],
            changed_at=last["at"],
            standing=standing_at_any_time(rules, state),
        )
    )


def _superseded_by_another(
    connection: Connection,
    row: Row[Any],
    kept: list[_Change],
    before: Sequence[_Change],
) -> list[_Change]:
    """Return the changes with that by which the next memory that contradicts it superseded it.

    Nothing did as long as the memory that is forgotten had.
    """
    if not any(each.action == _SUPERSEDED for each in before):
        return kept
    plain = without_prefix(row.text)
    for other in sorted(
        similar_memories(connection, row.project_id, row.text, CONFLICT_FROM),
        key=lambda each: each.row.id,
    ):
        text = without_prefix(other.row.text)
        likeness = compare(plain, text, other.similarity)
        if other.row.id > row.id and likeness is Likeness.CONTRADICTS:
            at = other.row.created_at
            change = _Change(at, _SUPERSEDED, other.row.memory_id, None)
            return sorted([*kept, change], key=lambda each: each.at)
    return kept


def _written(
    changes: Sequence[_Change], stored: Row[Any], rules: MemoryRules
) -> list[dict[str, Any]]:
    """Return the rows of a memory's changes, renumbered."""
    state = MemoryState(MemoryType(stored.type), stored.confidence, stored.at)
    recalled: float | None = None
    superseder: str | None = None
    rows: list[dict[str, Any]] = []
    told: list[_Change] = []
    for number, change in enumerate(changes, start=1):
        before = state
        action = change.action
        if action == _SUPERSEDED:
            superseder = change.because_of
            state = superseded(rules, state)
            told.append(change)
        elif action in (_RECALLED, HANDED_OUT):
            recalled = change.last_recalled_at
        elif action in JUDGES:
            told.append(change)
            state, action = _judged(told, state, stored, rules)
            state = replace(state, is_superseded=superseder is not None)
        if action in ("rejected", "inverted"):
            action = "inverted" if state.type is not before.type else "rejected"
        rows.append(
            {
                "number": number,
                "at": change.at,
                "action": action,
                "because_of": change.because_of,
                "type": state.type.value,
                "confidence": state.confidence,
                "last_recalled_at": recalled,
                "superseded_by": superseder,
            }
        )
    return rows


def _judged(
    told: Sequence[_Change], state: MemoryState, stored: Row[Any], rules: MemoryRules
) -> tuple[MemoryState, str]:
    """Return the state after the last of some changes, and its name.

    A judgement that amends another one takes effect in its place.
    """
    last = told[-1]
    judge = JUDGES[last.action]
    is_amendment = last.because_of is not None and any(
        each.because_of == last.because_of and each.action in JUDGES for each in told[:-1]
    )
    if not is_amendment:
        return (state if judge is None else judge(rules, state)), last.action
    actions: list[str] = []
    place_of: dict[str, int] = {}
    for each in told:
        if each.action in JUDGES and each.because_of is not None:
            if each.because_of in place_of:
                actions[place_of[each.because_of]] = each.action
                continue
            place_of[each.because_of] = len(actions)
        actions.append(each.action)
    state = MemoryState(MemoryType(stored.type), stored.confidence, stored.at)
    for action in actions:
        judge = JUDGES.get(action, None if action in JUDGES else superseded)
        if judge is not None:
            state = judge(rules, state)
    return state, last.action
