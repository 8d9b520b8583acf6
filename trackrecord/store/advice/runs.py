"""The runs of a project: noted when an outcome is learnt, read when advice is counted."""

from collections.abc import Iterable, Mapping

from sqlalchemy import Connection, delete, select

from trackrecord.learning.advice.runs import Run
from trackrecord.wire.outcome_scorer import ScoredOutcome
from trackrecord.wire.run_digest import run_of

from ..database.bulk_insert import insert_rows
from ..memories.tables import past_tasks
from .tables import runs

_COLUMNS = tuple(runs.c)


def note_runs(
    connection: Connection,
    project_ids: Mapping[str, int],
    recorded: Iterable[tuple[int, ScoredOutcome]],
) -> None:
    """Note the runs of outcomes by their rows."""
    rows = [
        (project_ids[each.project], each.ended_at, row, each.received_at, each.success, each.digest)
        for row, each in recorded
    ]
    # In the order of their key, which no two share.
    rows.sort()
    insert_rows(connection, runs, _COLUMNS, rows)


def clear_runs(connection: Connection, project_id: int) -> None:
    """Remove all runs of a project, so that they can be noted anew."""
    connection.execute(delete(runs).where(runs.c.project_id == project_id))


def read_runs(
    connection: Connection, project_id: int, *, limit: int, at: float | None = None
) -> list[Run]:
    """Return the runs of a project that ended last, the oldest first.

    Args:
        connection: a reading transaction.
        project_id: whose runs.
        limit: how many to return at most.
        at: a past moment: only outcomes that had been received by then count.
    """
    query = (
        select(
            runs.c.outcome, runs.c.ended_at, runs.c.success, runs.c.digest, past_tasks.c.instruction
        )
        .outerjoin(past_tasks, past_tasks.c.outcome == runs.c.outcome)
        .where(runs.c.project_id == project_id)
        .order_by(runs.c.ended_at.desc(), runs.c.outcome.desc())
        .limit(limit)
    )
    if at is not None:
        query = query.where(runs.c.received_at <= at)
    found = [
        run_of(
            row.digest,
            outcome=row.outcome,
            ended_at=row.ended_at,
            success=row.success,
            instruction=row.instruction or "",
        )
        for row in connection.execute(query)
    ]
    found.reverse()
    return found
