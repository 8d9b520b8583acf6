"""Runs as people look them up: with the id of their outcome, and with its body."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from sqlalchemy import Connection, Select, and_, false, func, or_, select, tuple_

from trackrecord.learning.advice.runs.runs import NotedRun
from trackrecord.wire.run_digest import run_of

from ..database.engine import dialect_of
from ..database.parts import AT_ONCE, in_parts
from ..outcomes.entries import OUTCOME_IS_CURRENT, current_as_of, rows_of_commit
from ..outcomes.tables import outcomes
from .tables import listed_runs, runs

# The rest of a longer text is compared with the reports; SQLite looks for 50,000 bytes at most.
_LONGEST_TEXT: Final = 1000


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


def noted_runs(
    connection: Connection, project_id: int, rows: Sequence[int], *, at: float | None = None
) -> list[NotedRun]:
    """Return what advice is counted from of the runs of outcomes, the newest first.

    Args:
        connection: a reading transaction.
        project_id: whose runs.
        rows: of the outcomes.
        at: a past moment: only what stood then.
    """
    found: list[NotedRun] = []
    for some in in_parts(rows):
        keys = _keys(connection, project_id, some)
        # By the beginning of their key: a database that has read few runs may choose another way.
        query = select(runs).where(
            runs.c.project_id == project_id,
            runs.c.ended_at.in_({ended_at for ended_at, _ in keys}),
            current_as_of(runs.c.replaced_at, at),
        )
        if at is not None:
            query = query.where(runs.c.received_at <= at)
        found += [
            run_of(row.digest, outcome=row.outcome, ended_at=row.ended_at, success=row.success)
            for row in connection.execute(query)
            if (row.ended_at, row.outcome) in keys
        ]
    found.sort(key=lambda each: (each.ended_at, each.outcome), reverse=True)
    return found


def reports_of_runs(
    connection: Connection,
    project_id: int,
    *,
    marks: Sequence[str] = (),
    text: str | None = None,
    commit: str | None = None,
    at: float | None = None,
    after: tuple[float, int] | None = None,
    oldest_first: bool = False,
    at_once: int = AT_ONCE,
) -> Iterator[RunOnRecord]:
    """Yield the records of runs, the newest first, in portions.

    Args:
        connection: a reading transaction.
        project_id: whose runs.
        marks: only runs that have all of these, see `run_marks.py`, and a few others.
        text: only runs whose task's text contains the beginning of this, which has no case.
        commit: only runs that made this commit: its hash, or the first seven digits of it or more.
        at: a past moment: only what had been received by then.
        after: when a run ended, and its outcome's row: only runs that follow it in the order.
        oldest_first: whether the oldest come first.
        at_once: how many are read together.
    """
    table, contains = listed_runs.c, dialect_of(connection).contains
    query = _listed(project_id, at)
    if text is not None:
        query = query.where(contains(table.task_text, text[:_LONGEST_TEXT]))
    query = query.where(*(contains(table.marks, each) for each in marks))
    if commit is not None:
        query = query.where(table.outcome.in_(rows_of_commit(project_id, commit)))
    columns = (table.ended_at, table.outcome)
    query = query.order_by(*(each if oldest_first else each.desc() for each in columns))
    while True:
        following = query
        if after is not None:
            key = tuple_(*columns)
            following = query.where(key > after if oldest_first else key < after)
        page = _reports(connection, following.limit(at_once))
        yield from page if oldest_first else reversed(page)
        if len(page) < at_once:
            return
        last = page[-1 if oldest_first else 0]
        after = last.ended_at, last.row


def report_of_run(
    connection: Connection, project_id: int, outcome_id: str, *, at: float | None = None
) -> RunOnRecord | None:
    """Return the record of one run; None if there was none at a past moment."""
    named = select(outcomes.c.ended_at, outcomes.c.id).where(
        outcomes.c.project_id == project_id, outcomes.c.outcome_id == outcome_id
    )
    keys = [(row.ended_at, row.id) for row in connection.execute(named)]
    return next(iter(reports_of_keys(connection, project_id, keys, at=at)), None)


def reports_of_keys(
    connection: Connection,
    project_id: int,
    keys: Iterable[tuple[float, int]],
    *,
    at: float | None = None,
) -> list[RunOnRecord]:
    """Return the records of a few runs, the newest first.

    Args:
        connection: a reading transaction.
        project_id: whose runs.
        keys: when they ended, and the rows of their outcomes.
        at: a past moment: only what stood then.
    """
    table = listed_runs.c
    # By their whole key: asked for the rows alone, SQLite looks through all runs of the project.
    among = [and_(table.ended_at == ended_at, table.outcome == row) for ended_at, row in keys]
    found = _reports(connection, _listed(project_id, at).where(or_(false(), *among)))
    return found[::-1]


def bodies_of_outcomes(
    connection: Connection, project_id: int, ids: Sequence[str]
) -> dict[str, bytes]:
    """Return the bodies of a project's outcomes by their ids, without those that are not there."""
    columns = outcomes.c
    found: dict[str, bytes] = {}
    for some in in_parts(ids):
        query = select(columns.outcome_id, columns.body).where(
            columns.project_id == project_id, columns.outcome_id.in_(some), OUTCOME_IS_CURRENT
        )
        found.update((row.outcome_id, row.body) for row in connection.execute(query))
    return found


def marks_since(
    connection: Connection, project_id: int, since: float, *, limit: int
) -> list[tuple[str, float, str]]:
    """Return the outcomes, the ends and the marks of the runs that ended last, the newest first.

    Args:
        connection: a reading transaction.
        project_id: whose runs.
        since: a moment: only those that ended after it.
        limit: how many at most.
    """
    table = listed_runs.c
    query = (
        select(outcomes.c.outcome_id, table.ended_at, table.marks)
        .join(outcomes, outcomes.c.id == table.outcome)
        .where(table.project_id == project_id, table.ended_at > since, table.replaced_at.is_(None))
        .order_by(table.ended_at.desc(), table.outcome.desc())
        .limit(limit)
    )
    return [(row[0], row[1], row[2]) for row in connection.execute(query)]


def last_ended(connection: Connection, project_id: int) -> float | None:
    """Return when the newest run of a project ended; None without any."""
    newest = select(func.max(listed_runs.c.ended_at))
    return connection.execute(newest.where(listed_runs.c.project_id == project_id)).scalar()


def count_runs(connection: Connection, project_id: int, *, at: float | None = None) -> int:
    """Return how many runs of a project are on record."""
    listed = _listed(project_id, at).subquery()
    return connection.execute(select(func.count()).select_from(listed)).scalar_one()


def _listed(project_id: int, at: float | None) -> Select[tuple[int, float]]:
    table = listed_runs.c
    query = select(table.outcome, table.ended_at).where(
        table.project_id == project_id, current_as_of(table.replaced_at, at)
    )
    # None ends after it was received, so that what came later need not be looked through.
    return query if at is None else query.where(table.ended_at <= at, table.received_at <= at)


def _reports(connection: Connection, listed: Select[tuple[int, float]]) -> list[RunOnRecord]:
    """Return the records of listed runs, the oldest first.

    They are chosen first: a database that has read few runs might look for the bodies of all.
    """
    chosen, table = listed.subquery(), outcomes.c
    query = select(
        table.outcome_id, chosen.c.outcome, chosen.c.ended_at, table.received_at, table.body
    ).join(chosen, chosen.c.outcome == table.id)
    found = [RunOnRecord(*row) for row in connection.execute(query)]
    return sorted(found, key=lambda each: (each.ended_at, each.row))


def _keys(connection: Connection, project_id: int, rows: Sequence[int]) -> set[tuple[float, int]]:
    """Return when outcomes ended, and their rows."""
    columns = outcomes.c
    # Asked for the project as well, SQLite would look through all of it.
    query = select(columns.project_id, columns.ended_at, columns.id).where(columns.id.in_(rows))
    return {
        (row.ended_at, row.id) for row in connection.execute(query) if row.project_id == project_id
    }
