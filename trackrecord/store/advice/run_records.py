"""Runs as people look them up: with the id of their outcome, and without its body."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Select, and_, false, func, or_, select, tuple_

from trackrecord.learning.advice.runs.runs import NotedRun
from trackrecord.wire.run_digest import run_of

from ..outcomes.as_of import current_as_of, outcome_current_as_of
from ..outcomes.commits import outcomes_of_commit
from ..outcomes.tables import outcomes
from .tables import runs

_AT_ONCE: Final = 500


@dataclass(frozen=True)
class RunRecord:
    """One run.

    Attributes:
        outcome_id: the id of its outcome.
        run: what it says; without the task's text.
    """

    outcome_id: str
    run: NotedRun


class RunOnRecord(NamedTuple):
    """A run as it is stored.

    Attributes:
        outcome_id: the id of its outcome.
        row: the row of its outcome.
        ended_at: when it ended, seconds since the epoch.
        received_at: when the body was received.
        body: all reports of it, joined.
    """

    outcome_id: str
    row: int
    ended_at: float
    received_at: float
    body: bytes


class RunRecordPlace(NamedTuple):
    """A run's place among those of its project: by when it ended, then by its outcome's row."""

    ended_at: float
    outcome: int


def runs_before(
    connection: Connection,
    project_id: int,
    *,
    before: RunRecordPlace | None = None,
    at: float | None = None,
    at_once: int = _AT_ONCE,
) -> Iterator[RunRecord]:
    """Yield the runs of a project, the newest first; they are read in portions.

    Args:
        connection: a reading transaction.
        project_id: whose runs.
        before: only runs that come after this one in the order.
        at: a past moment: only what had been received by then.
        at_once: how many are read together.
    """
    query = (
        select(
            runs.c.ended_at, runs.c.outcome, runs.c.success, runs.c.digest, outcomes.c.outcome_id
        )
        .join(outcomes, outcomes.c.id == runs.c.outcome)
        .where(runs.c.project_id == project_id, current_as_of(runs.c.replaced_at, at))
        .order_by(runs.c.ended_at.desc(), runs.c.outcome.desc())
        .limit(at_once)
    )
    if at is not None:
        # None ends after it was received, so that what came later need not be looked through.
        query = query.where(runs.c.ended_at <= at, runs.c.received_at <= at)
    while True:
        rows = connection.execute(query if before is None else query.where(_after(before))).all()
        yield from (_run(row, row.outcome_id) for row in rows)
        if len(rows) < at_once:
            return
        before = RunRecordPlace(rows[-1].ended_at, rows[-1].outcome)


def runs_of_rows(
    connection: Connection, project_id: int, rows: Sequence[int], *, at: float | None = None
) -> list[RunRecord]:
    """Return the runs of outcomes by their rows, the newest first.

    Args:
        connection: a reading transaction.
        project_id: whose runs.
        rows: of the outcomes.
        at: a past moment: only what stood then.
    """
    found: list[RunRecord] = []
    for start in range(0, len(rows), _AT_ONCE):
        named = _named(connection, project_id, rows[start : start + _AT_ONCE])
        # By the beginning of their key: a database that has read few runs may choose another way.
        query = select(runs).where(
            runs.c.project_id == project_id,
            runs.c.ended_at.in_({ended_at for ended_at, _ in named}),
            current_as_of(runs.c.replaced_at, at),
        )
        if at is not None:
            query = query.where(runs.c.received_at <= at)
        found += [
            _run(row, named[key])
            for row in connection.execute(query)
            if (key := (row.ended_at, row.outcome)) in named
        ]
    found.sort(key=lambda each: (each.run.ended_at, each.run.outcome), reverse=True)
    return found


def reports_of_runs(
    connection: Connection,
    project_id: int,
    *,
    commit: str | None = None,
    at: float | None = None,
    after: RunRecordPlace | None = None,
    oldest_first: bool = False,
) -> Iterator[RunOnRecord]:
    """Yield the records of runs, the newest first, in portions.

    Args:
        connection: a reading transaction.
        project_id: whose runs.
        commit: only runs that made this commit: its hash, or the first seven digits of it or more.
        at: a past moment: only what had been received by then.
        after: only runs that come after this one in the order.
        oldest_first: whether the oldest come first.
    """
    query = _reports(project_id, at)
    if commit is not None:
        made = outcomes_of_commit(connection, project_id, commit)
        query = query.where(outcomes.c.outcome_id.in_(made))
    columns = (runs.c.ended_at, runs.c.outcome)
    query = query.order_by(*(each if oldest_first else each.desc() for each in columns))
    while True:
        following = query
        if after is not None:
            key = tuple_(*columns)
            following = query.where(key > tuple(after) if oldest_first else key < tuple(after))
        page = connection.execute(following.limit(_AT_ONCE)).all()
        yield from (RunOnRecord(*row) for row in page)
        if len(page) < _AT_ONCE:
            return
        after = RunRecordPlace(page[-1].ended_at, page[-1].outcome)


def report_of_run(
    connection: Connection, project_id: int, outcome_id: str, *, at: float | None = None
) -> RunOnRecord | None:
    """Return the record of one run; None if there was none at a past moment."""
    named = select(outcomes.c.ended_at, outcomes.c.id).where(
        outcomes.c.project_id == project_id, outcomes.c.outcome_id == outcome_id
    )
    # By their whole key: asked for both at once, SQLite looks through all runs of the project.
    keys = [
        and_(runs.c.ended_at == ended_at, runs.c.outcome == row)
        for ended_at, row in connection.execute(named)
    ]
    row = connection.execute(_reports(project_id, at).where(or_(false(), *keys))).first()
    return None if row is None else RunOnRecord(*row)


def bodies_of_outcomes(
    connection: Connection, project_id: int, ids: Sequence[str], *, at: float | None = None
) -> dict[str, bytes]:
    """Return the bodies of a project's outcomes by their ids, without those that are not there."""
    columns = outcomes.c
    found: dict[str, bytes] = {}
    for start in range(0, len(ids), _AT_ONCE):
        query = select(columns.outcome_id, columns.body).where(
            columns.project_id == project_id,
            columns.outcome_id.in_(ids[start : start + _AT_ONCE]),
            outcome_current_as_of(at),
        )
        if at is not None:
            query = query.where(columns.received_at <= at)
        found.update((row.outcome_id, row.body) for row in connection.execute(query))
    return found


def count_runs(connection: Connection, project_id: int, *, at: float | None = None) -> int:
    """Return how many runs of a project are on record."""
    query = select(func.count()).where(
        runs.c.project_id == project_id, current_as_of(runs.c.replaced_at, at)
    )
    if at is not None:
        query = query.where(runs.c.received_at <= at)
    return connection.execute(query).scalar_one()


def _reports(project_id: int, at: float | None) -> Select[Any]:
    query = (
        select(
            outcomes.c.outcome_id,
            runs.c.outcome,
            runs.c.ended_at,
            outcomes.c.received_at,
            outcomes.c.body,
        )
        .join(outcomes, outcomes.c.id == runs.c.outcome)
        .where(runs.c.project_id == project_id, current_as_of(runs.c.replaced_at, at))
    )
    return query if at is None else query.where(runs.c.received_at <= at)


def _named(
    connection: Connection, project_id: int, rows: Sequence[int]
) -> dict[tuple[float, int], str]:
    """Return the ids of outcomes by when they ended and by their rows."""
    columns = outcomes.c
    # Asked for the project as well, SQLite would look through all of it.
    query = select(columns.project_id, columns.ended_at, columns.id, columns.outcome_id).where(
        columns.id.in_(rows)
    )
    return {
        (row.ended_at, row.id): row.outcome_id
        for row in connection.execute(query)
        if row.project_id == project_id
    }


def rows_of_task(
    connection: Connection, project_id: int, task_id: str, *, at: float | None = None, limit: int
) -> list[int]:
    """Return the rows of a task's outcomes that were received last, the newest first."""
    columns = outcomes.c
    query = (
        select(columns.id)
        .where(
            columns.project_id == project_id, columns.task_id == task_id, outcome_current_as_of(at)
        )
        .order_by(columns.received_at.desc())
        .limit(limit)
    )
    if at is not None:
        query = query.where(columns.received_at <= at)
    return list(connection.execute(query).scalars())


def _after(place: RunRecordPlace) -> Any:  # noqa: ANN401 - a condition, whatever SQLAlchemy calls it
    return tuple_(runs.c.ended_at, runs.c.outcome) < (place.ended_at, place.outcome)


def _run(row: Any, outcome_id: str) -> RunRecord:  # noqa: ANN401 - of either query
    run = run_of(row.digest, outcome=row.outcome, ended_at=row.ended_at, success=row.success)
    return RunRecord(outcome_id, run)
