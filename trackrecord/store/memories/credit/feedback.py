"""Feedback on memories: a helpful verdict confirms a memory, a harmful one rejects it."""

from collections.abc import Iterable
from hashlib import blake2b
from typing import Final

from sqlalchemy import Connection

from trackrecord.learning.memories.rules import MemoryRules, confirmed, rejected
from trackrecord.learning.outcomes.scoring import Verdict
from trackrecord.wire.outcome_scorer import MAX_MEMORY_ID

from ...outcomes.feedback.feedback import note_counted, waiting_feedback
from .credit import Judge, lock_existing, memory_row, record_judgement

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
    known = lock_existing(connection, {(project_id, row.name) for row in waiting})
    counted = [row for row in waiting if (project_id, row.name) in known]
    # One after the other: judging stops at bounds, so that their order matters.
    for given in counted:
        judge = _JUDGES.get(given.verdict)
        if judge is not None:
            memory = memory_row(connection, project_id, given.name)
            cause = cause_of(given.feedback_id)
            record_judgement(connection, memory, judge, rules, now=now, because_of=cause)
    note_counted(connection, counted)


def cause_of(feedback_id: str) -> str:
    """Return the name of feedback in a memory's history, unlike any outcome's id."""
    cause = f"feedback:{feedback_id}"
    if len(cause) <= MAX_MEMORY_ID:
        return cause
    return f"feedback:{blake2b(feedback_id.encode(), digest_size=_DIGEST_BYTES).hexdigest()}"
