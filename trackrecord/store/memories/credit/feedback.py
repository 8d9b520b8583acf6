"""Feedback on memories: a helpful verdict confirms a memory, a harmful one rejects it."""

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any, Final

from sqlalchemy import Connection, Row, select

from trackrecord.learning.memories.rules import MemoryRules, confirmed, rejected
from trackrecord.learning.outcomes.scoring import Verdict
from trackrecord.wire.outcome_scorer import MAX_MEMORY_ID

from ...database.row_locks import for_update
from ...outcomes.feedback.waiting_feedback import note_counted, waiting_feedback
from ..read import CHUNK
from ..tables import memories
from .judging import Judge, record_judgement

_DIGEST_BYTES: Final = 16
# A neutral verdict is on record, and judges nothing.
_JUDGES: Final[dict[str, Judge]] = {
    Verdict.HELPFUL.value: confirmed,
    Verdict.HARMFUL.value: rejected,
}


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
    if not waiting:
        return
    known = set(_held(connection, project_id, {row.name for row in waiting}))
    counted = [row for row in waiting if row.name in known]
    # One after the other: judging stops at bounds, so that their order matters.
    for given in counted:
        judge = _JUDGES.get(given.verdict)
        if judge is not None:
            memory = _row(connection, project_id, given.name)
            cause = cause_of(given.feedback_id)
            record_judgement(connection, memory, judge, rules, now=now, because_of=cause)
    note_counted(connection, counted)


def cause_of(feedback_id: str) -> str:
    """Return the name of feedback in a memory's history, unlike any outcome's id."""
    cause = f"feedback:{feedback_id}"
    if len(cause) <= MAX_MEMORY_ID:
        return cause
    return f"feedback:{blake2b(feedback_id.encode(), digest_size=_DIGEST_BYTES).hexdigest()}"


def _held(connection: Connection, project_id: int, memory_ids: Iterable[str]) -> Iterator[str]:
    """Yield those that are on record, held in the order of their rows."""
    wanted = sorted(memory_ids)
    for start in range(0, len(wanted), CHUNK):
        query = (
            select(memories.c.memory_id)
            .where(memories.c.project_id == project_id)
            .where(memories.c.memory_id.in_(wanted[start : start + CHUNK]))
            .order_by(memories.c.id)
        )
        yield from connection.execute(for_update(connection, query, memories)).scalars()


def _row(connection: Connection, project_id: int, memory_id: str) -> Row[Any]:
    query = select(memories).where(
        memories.c.project_id == project_id, memories.c.memory_id == memory_id
    )
    return connection.execute(query).one()
