"""Taking in feedback on one pattern, criterion or memory alone: each counts exactly once.

That on a memory which the project does not know yet waits. That on a pattern counts at once, and is
seen when an outcome names it.
"""

from collections.abc import Sequence

from sqlalchemy import Connection

from trackrecord.learning.rules_bundle import Rules

from ..ledger.ledger import Ledger
from ..memories.credit import judge_by_feedback
from ..memories.similar import lock_memories
from ..outcomes.feedback.feedback import GivenFeedback, feedback_entries, record_feedback
from ..outcomes.projects import note_change
from ..outcomes.recorded_rules import note_rules
from .rebase import bases_for_writing


def take_in_feedback(
    connection: Connection,
    project_id: int,
    given: Sequence[GivenFeedback],
    rules: Rules,
    *,
    now: float,
) -> tuple[GivenFeedback, ...]:
    """Record feedback of one project and update every statistic from the new part; return that.

    Args:
        connection: within a writing transaction that has done nothing else yet.
        project_id: the project.
        given: the feedback, in any order.
        rules: what it counts for.
        now: seconds since the epoch.
    """
    bases = bases_for_writing(connection, [project_id], rules.half_lives, now)
    new = record_feedback(connection, project_id, given)
    if not new:
        return ()
    note_rules(connection, {project_id}, rules.recorded)
    memory_ids = [each.name for each in new if each.subject == "memory"]
    if memory_ids:
        lock_memories(connection, project_id)
        judge_by_feedback(connection, project_id, memory_ids, rules.memories, now=now)
    ledger = Ledger(connection, bases)
    ledger.add([*feedback_entries(connection, project_id, [each.feedback_id for each in new])])
    ledger.write()
    note_change(connection, project_id, now)
    return tuple(new)
