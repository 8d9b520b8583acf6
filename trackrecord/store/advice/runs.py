"""The runs of a project: noted when an outcome is learnt, read when advice is counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from sqlalchemy import ColumnElement, Connection, Table, and_, bindparam, delete, select, update

from trackrecord.learning.advice.moments.calls import TriedRun
from trackrecord.learning.advice.rules import MAX_RUNS
from trackrecord.learning.advice.runs.runs import NotedRun, Run, with_verdict
from trackrecord.wire.outcome import decode_stored
from trackrecord.wire.run_digest import run_of, source_and_patterns, speaker_of_run
from trackrecord.wire.run_marks import marks_of, task_text_of
from trackrecord.wire.tried_calls import tried_run

from ..database.upsert import insert_rows
from ..memories.tables import past_tasks
from ..outcomes.entries import Replaced, outcomes_in_parts
from ..outcomes.tables import outcomes, projects
from .tables import listed_runs, run_counts, runs, tried_calls

if TYPE_CHECKING:
    from trackrecord.wire.outcome_scorer import ScoredOutcome

# One row of each for an outcome, or none.
_TABLES: Final = (runs, listed_runs, tried_calls)
_COLUMNS, _LISTED_COLUMNS, _TRIED_COLUMNS = (
    tuple(column for column in table.c if column.name != "replaced_at") for table in _TABLES
)
# Bodies may have a megabyte each.
_AT_ONCE: Final = 200


def note_runs(
    connection: Connection,
    project_ids: Mapping[str, int],
    recorded: Sequence[tuple[int, ScoredOutcome]],
) -> None:
    """Note the runs of outcomes by their rows, and their calls that can be tried again."""
    rows = [
        (project_ids[each.project], each.ended_at, row, each.received_at, each.success, each.digest)
        for row, each in recorded
    ]
    # In the order of their key, which no two share.
    rows.sort()
    insert_rows(connection, runs, _COLUMNS, rows)
    listed = [
        (project_ids[of.project], of.ended_at, row, of.received_at, of.marks, of.task_text)
        for row, of in recorded
    ]
    listed.sort()
    insert_rows(connection, listed_runs, _LISTED_COLUMNS, listed)
    tried = [
        (project_ids[each.project], each.ended_at, row, each.received_at, each.tried)
        for row, each in recorded
        if each.tried
    ]
    if tried:
        tried.sort()
        insert_rows(connection, tried_calls, _TRIED_COLUMNS, tried)


def list_again(connection: Connection, project_id: int | None = None) -> None:
    """List the runs of outcomes on record that are not listed; without a project, of all."""
    of = outcomes.c
    wanted = of.project_id, of.ended_at, of.id, of.received_at, of.replaced_at, of.body
    for found in outcomes_in_parts(connection, project_id, *wanted, at_once=_AT_ONCE):
        rows = []
        for row in found:
            outcome = decode_stored(row.body)
            told = marks_of(outcome), row.replaced_at or None, task_text_of(outcome)
            rows.append((*row[:4], *told))
        insert_rows(connection, listed_runs, tuple(listed_runs.c), rows)


def drop_runs(connection: Connection, project_id: int, ended: Iterable[tuple[int, float]]) -> None:
    """Delete the runs and the calls of outcomes, by their rows and when they ended."""
    keys = [{"of": project_id, "by": row, "ended": at} for row, at in ended]
    if not keys:
        return
    for table in _TABLES:
        connection.execute(delete(table).where(*_key(table)), keys)


def drop_texts(connection: Connection, project_id: int, ended: Iterable[tuple[int, float]]) -> None:
    """Let no search find the texts of tasks, by the rows of outcomes and when they ended."""
    keys = [{"of": project_id, "by": row, "ended": at} for row, at in ended]
    if keys:
        statement = update(listed_runs).where(*_key(listed_runs)).values(task_text="")
        connection.execute(statement, keys)


def _key(table: Table) -> tuple[ColumnElement[bool], ...]:
    return (
        table.c.project_id == bindparam("of"),
        table.c.ended_at == bindparam("ended"),
        table.c.outcome == bindparam("by"),
    )


def clear_runs(connection: Connection, project_id: int) -> None:
    """Remove the runs of a project before noting them again, but for those without texts.

    What was counted from them goes, too.
    """
    query = select(projects.c.bodies_until).where(projects.c.id == project_id)
    until = connection.execute(query).scalar()
    connection.execute(delete(run_counts).where(run_counts.c.project_id == project_id))
    for table in _TABLES:
        gone = delete(table).where(table.c.project_id == project_id)
        if until is not None:
            gone = gone.where(table.c.received_at >= until)
        connection.execute(gone)


def read_runs(connection: Connection, project_id: int, *, limit: int = MAX_RUNS) -> list[Run]:
    """Return the runs with a verdict that ended last, the oldest first.

    Args:
        connection: a reading transaction.
        project_id: whose runs.
        limit: how many to return at most.
    """
    known = runs.c.success.is_not(None)
    return with_verdict(_newest(connection, project_id, known, limit=limit))


def read_noted_runs(connection: Connection, project_id: int) -> list[NotedRun]:
    """Return the runs that ended last, with and without a verdict, the oldest first.

    Those with a verdict are the ones that `read_runs` returns: however many have none, they do not
    crowd them out. Those without are as many at most, and of the same time.

    Args:
        connection: a reading transaction.
        project_id: whose runs.
    """
    judged = read_runs(connection, project_id, limit=MAX_RUNS)
    unknown: ColumnElement[bool] = runs.c.success.is_(None)
    if len(judged) == MAX_RUNS:
        unknown &= runs.c.ended_at >= judged[0].ended_at
    others = _newest(connection, project_id, unknown, limit=MAX_RUNS)
    return sorted((*judged, *others), key=lambda run: (run.ended_at, run.outcome))


def read_tried_runs(
    connection: Connection, project_id: int, *, limit: int, since: float | None = None
) -> list[TriedRun]:
    """Return the calls of the runs that ended last, of those that have any, the oldest first.

    Before them that of the very first run: nobody becomes the only speaker by speaking a lot.

    Args:
        connection: a reading transaction.
        project_id: whose runs.
        limit: how many runs to return at most.
        since: a moment: only those that ended after it.
    """
    table = tried_calls.c
    query = (
        select(table.outcome, table.ended_at, table.digest, runs.c.digest.label("run"))
        .outerjoin(
            runs,
            and_(
                runs.c.project_id == table.project_id,
                runs.c.ended_at == table.ended_at,
                runs.c.outcome == table.outcome,
            ),
        )
        .where(table.project_id == project_id, table.replaced_at.is_(None))
    )
    if since is not None:
        query = query.where(table.ended_at > since)
    newest = query.order_by(table.ended_at.desc(), table.outcome.desc()).limit(limit)
    found = connection.execute(newest).all()[::-1]
    if len(found) == limit:
        first = connection.execute(query.order_by(table.ended_at, table.outcome).limit(1)).all()
        found = [*first, *found] if first[0].outcome != found[0].outcome else found
    return [
        tried_run(
            row.digest,
            outcome=row.outcome,
            ended_at=row.ended_at,
            speaker="" if row.run is None else speaker_of_run(row.run),
        )
        for row in found
    ]


def patterns_of_source(
    connection: Connection, project_id: int, source: str, *, limit: int
) -> set[str]:
    """Return the slugs of the patterns that an agent's runs touch, of the runs that ended last.

    Args:
        connection: a reading transaction.
        project_id: whose runs.
        source: the agent.
        limit: how many runs, of all agents, are looked at.
    """
    query = (
        select(runs.c.digest)
        .where(runs.c.project_id == project_id, runs.c.replaced_at.is_(None))
        .order_by(runs.c.ended_at.desc(), runs.c.outcome.desc())
        .limit(limit)
    )
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
) -> list[NotedRun]:
    of = runs.c
    query = (
        select(
            of.outcome, of.ended_at, of.received_at, of.success, of.digest, past_tasks.c.instruction
        )
        .outerjoin(past_tasks, past_tasks.c.outcome == runs.c.outcome)
        .where(runs.c.project_id == project_id, where)
        .order_by(runs.c.ended_at.desc(), runs.c.outcome.desc())
        .limit(limit)
    )
    query = query.where(runs.c.replaced_at.is_(None))
    found = [
        run_of(
            row.digest,
            outcome=row.outcome,
            ended_at=row.ended_at,
            success=row.success,
            instruction=row.instruction or "",
            received_at=row.received_at,
        )
        for row in connection.execute(query)
    ]
    found.reverse()
    return found


def replace_runs(connection: Connection, replaced: Sequence[Replaced]) -> None:
    """Let the runs of replaced records be of the past."""
    if not replaced:
        return
    _replace_in(connection, runs, replaced)
    _replace_in(connection, listed_runs, replaced)
    if tried := [each for each in replaced if each.outcome.tried]:
        _replace_in(connection, tried_calls, tried)


def _replace_in(connection: Connection, table: Table, replaced: Sequence[Replaced]) -> None:
    connection.execute(
        update(table).where(*_key(table)).values(replaced_at=bindparam("at")),
        [
            {
                "of": each.project_id,
                "ended": each.outcome.ended_at,
                "by": each.row,
                "at": each.replaced_at,
            }
            for each in replaced
        ],
    )
