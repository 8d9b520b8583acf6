"""The runs of a project: noted when an outcome is learnt, read when advice is counted."""

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import ColumnElement, Connection, bindparam, delete, select, update

from trackrecord.learning.advice.runs import NotedRun, Run, with_verdict
from trackrecord.wire.outcome_scorer import ScoredOutcome
from trackrecord.wire.run_digest import run_of, source_and_patterns

from ..database.bulk_insert import insert_rows
from ..memories.tables import past_tasks
from ..outcomes.as_of import current_as_of
from ..outcomes.replaced import Replaced
from .tables import runs

_COLUMNS = tuple(column for column in runs.c if column.name != "replaced_at")


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
    """Remove all runs of a project before noting them again."""
    connection.execute(delete(runs).where(runs.c.project_id == project_id))


def read_runs(
    connection: Connection, project_id: int, *, limit: int, at: float | None = None
) -> list[Run]:
    """Return the runs with a verdict that ended last, the oldest first.

    Args:
        connection: a reading transaction.
        project_id: whose runs.
        limit: how many to return at most.
        at: a past moment: only outcomes that had been received by then count.
    """
    known = runs.c.success.is_not(None)
    return with_verdict(_newest(connection, project_id, known, limit=limit, at=at))


def read_noted_runs(
    connection: Connection, project_id: int, *, limit: int, at: float | None = None
) -> list[NotedRun]:
    """Return the runs that ended last, with and without a verdict, the oldest first.

    Those with a verdict are the ones that `read_runs` returns: however many have none, they do not
    crowd them out. Those without are as many at most, and of the same time.

    Args:
        connection: a reading transaction.
        project_id: whose runs.
        limit: how many of either kind to return at most.
        at: as for `read_runs`.
    """
    judged = read_runs(connection, project_id, limit=limit, at=at)
    unknown: ColumnElement[bool] = runs.c.success.is_(None)
    if len(judged) == limit:
        unknown &= runs.c.ended_at >= judged[0].ended_at
    others = _newest(connection, project_id, unknown, limit=limit, at=at)
    return sorted((*judged, *others), key=lambda run: (run.ended_at, run.outcome))


def patterns_of_source(
    connection: Connection, project_id: int, source: str, *, limit: int, at: float | None = None
) -> set[str]:
    """Return the slugs of the patterns that an agent's runs touch, of the runs that ended last.

    Args:
        connection: a reading transaction.
        project_id: whose runs.
        source: the agent.
        limit: how many runs, of all agents, are looked at.
        at: as for `read_runs`.
    """
    query = (
        select(runs.c.digest)
        .where(runs.c.project_id == project_id, current_as_of(runs.c.replaced_at, at))
        .order_by(runs.c.ended_at.desc(), runs.c.outcome.desc())
        .limit(limit)
    )
    if at is not None:
        query = query.where(runs.c.received_at <= at)
    found: set[str] = set()
    for digest in connection.execute(query).scalars():
        said_by, patterns = source_and_patterns(digest)
        if said_by == source:
            found.update(patterns)
    return found


def _newest(
    connection: Connection,
    project_id: int,
    where: ColumnElement[bool],
    *,
    limit: int,
    at: float | None,
) -> list[NotedRun]:
    query = (
        select(
            runs.c.outcome, runs.c.ended_at, runs.c.success, runs.c.digest, past_tasks.c.instruction
        )
        .outerjoin(past_tasks, past_tasks.c.outcome == runs.c.outcome)
        .where(runs.c.project_id == project_id, where)
        .order_by(runs.c.ended_at.desc(), runs.c.outcome.desc())
        .limit(limit)
    )
    query = query.where(current_as_of(runs.c.replaced_at, at))
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


def replace_runs(connection: Connection, replaced: Sequence[Replaced]) -> None:
    """Let the runs of replaced records be of the past."""
    if not replaced:
        return
    connection.execute(
        update(runs)
        .where(
            runs.c.project_id == bindparam("project"),
            runs.c.ended_at == bindparam("ended"),
            runs.c.outcome == bindparam("by"),
        )
        .values(replaced_at=bindparam("at")),
        [
            {
                "project": each.project_id,
                "ended": each.outcome.ended_at,
                "by": each.row,
                "at": each.replaced_at,
            }
            for each in replaced
        ],
    )
