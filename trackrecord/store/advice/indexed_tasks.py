"""Past tasks with what is told of them at prompt time: how they ended, and by what run."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, func, select

from trackrecord.learning.advice.runs import NotedRun
from trackrecord.wire.run_digest import run_of

from ..database.engine import dialect_of
from ..database.full_text import TASK_WORDS
from ..memories.tables import past_tasks
from ..outcomes.standing import outcome_stood
from ..outcomes.tables import outcomes, recorded_rules
from .tables import runs

_CHUNK = 500


@dataclass(frozen=True)
class NotedTask:
    """A past task on record.

    Attributes:
        row: the row of its outcome.
        outcome_id: the outcome.
        task_id: the task.
        instruction: the beginning of its text.
        success: whether it reached its goal.
        verdict: what its score stands for; None without a score.
        ended_at: when it ended, seconds since the epoch.
        run: how it went about it; None where that was not noted.
    """

    row: int
    outcome_id: str
    task_id: str
    instruction: str
    success: bool
    verdict: str | None
    ended_at: float
    run: NotedRun | None


def tasks_after(
    connection: Connection, project_id: int, *, after: int, limit: int
) -> list[NotedTask]:
    """Return the past tasks that stand, from after a row on, in the order of their rows."""
    query = _tasks(project_id, None).where(past_tasks.c.outcome > after)
    query = query.order_by(past_tasks.c.outcome).limit(limit)
    return [_task_of(row) for row in connection.execute(query)]


def tasks_of(
    connection: Connection, project_id: int, rows: Sequence[int], *, at: float | None = None
) -> list[NotedTask]:
    """Return the past tasks of these rows that stand, or stood at a moment."""
    found: list[NotedTask] = []
    for start in range(0, len(rows), _CHUNK):
        query = _tasks(project_id, at).where(past_tasks.c.outcome.in_(rows[start : start + _CHUNK]))
        found += [_task_of(row) for row in connection.execute(query)]
    return found


def replaced_rows(
    connection: Connection, project_id: int, outcome_ids: Collection[str]
) -> list[int]:
    """Return the rows of the records of outcomes that other records have replaced."""
    query = select(outcomes.c.id).where(
        outcomes.c.project_id == project_id,
        outcomes.c.outcome_id.in_(outcome_ids),
        outcomes.c.replaced_at != 0,
    )
    return list(connection.execute(query).scalars())


def standing_rows(connection: Connection, project_id: int, *, first: int, last: int) -> list[int]:
    """Return the rows of the past tasks between two that stand, ascending."""
    query = (
        select(past_tasks.c.outcome)
        .join(outcomes, outcomes.c.id == past_tasks.c.outcome)
        .where(past_tasks.c.project_id == project_id, past_tasks.c.outcome.between(first, last))
        .where(outcome_stood(None))
        .order_by(past_tasks.c.outcome)
    )
    return list(connection.execute(query).scalars())


def first_of_newest(connection: Connection, project_id: int, most: int) -> int | None:
    """Return the first row of so many newest past tasks; None if there are not so many."""
    own = select(past_tasks.c.outcome).where(past_tasks.c.project_id == project_id)
    newest = own.order_by(past_tasks.c.outcome.desc()).offset(most - 1).limit(1)
    return connection.execute(newest).scalar()


def first_of_all(connection: Connection, project_id: int) -> int | None:
    """Return the first row of a project's past tasks; None if there are none."""
    own = past_tasks.c.project_id == project_id
    return connection.execute(select(func.min(past_tasks.c.outcome)).where(own)).scalar()


def outcome_of(connection: Connection, project_id: int, row: int) -> str | None:
    """Return the outcome that a row of a project is about; None if the row is gone."""
    query = select(outcomes.c.outcome_id).where(
        outcomes.c.id == row, outcomes.c.project_id == project_id
    )
    return connection.execute(query).scalar()


def scored_by(connection: Connection, project_id: int) -> str:
    """Return the rules that the scores on record follow, as they are noted; "" if unknown."""
    query = select(recorded_rules.c.rules).where(recorded_rules.c.project_id == project_id)
    return connection.execute(query).scalar() or ""


def known_then(connection: Connection, project_id: int, at: float) -> tuple[int, int]:
    """Return how many past tasks had been received at a moment, and the row of the last one."""
    query = (
        select(func.count(), func.max(past_tasks.c.outcome))
        .join(outcomes, outcomes.c.id == past_tasks.c.outcome)
        .where(past_tasks.c.project_id == project_id, outcomes.c.received_at <= at)
        .where(outcome_stood(at))
    )
    count, last = connection.execute(query).one()
    return count, last or 0


def holders_until(
    connection: Connection, lexemes: Collection[str], *, last: int, most: int
) -> dict[str, tuple[int, list[int]]]:
    """Return, for each lexeme that a task up to a row has, how many, and the newest, ascending."""
    dialect = dialect_of(connection)
    found = {}
    with dialect.full_text_planning(connection):
        for lexeme in lexemes:
            total, rows = dialect.full_text_newest(
                connection, TASK_WORDS.name, lexeme, last=last, most=most
            )
            if total:
                found[lexeme] = total, sorted(rows)
    return found


def _tasks(project_id: int, at: float | None) -> Select[Any]:
    query = (
        select(
            past_tasks.c.outcome,
            outcomes.c.outcome_id,
            outcomes.c.task_id,
            past_tasks.c.instruction,
            outcomes.c.success,
            outcomes.c.verdict,
            outcomes.c.ended_at,
            runs.c.digest,
        )
        .join(outcomes, outcomes.c.id == past_tasks.c.outcome)
        .outerjoin(
            runs,
            and_(
                runs.c.project_id == past_tasks.c.project_id,
                runs.c.ended_at == outcomes.c.ended_at,
                runs.c.outcome == past_tasks.c.outcome,
            ),
        )
        .where(past_tasks.c.project_id == project_id, outcome_stood(at))
    )
    return query if at is None else query.where(outcomes.c.received_at <= at)


def _task_of(row: Row[Any]) -> NotedTask:
    run = None
    if row.digest is not None:
        run = run_of(row.digest, outcome=row.outcome, ended_at=row.ended_at, success=row.success)
    return NotedTask(
        row.outcome,
        row.outcome_id,
        row.task_id,
        row.instruction,
        row.success,
        row.verdict,
        row.ended_at,
        run,
    )
