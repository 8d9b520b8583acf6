"""The runs behind a lesson, as a person looks them up."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from ..outcomes.tables import outcomes


@dataclass(frozen=True)
class LessonRun:
    """One run behind a lesson.

    Attributes:
        outcome_id: the id of its outcome.
        task_id: the task.
        ended_at: when it ended, seconds since the epoch.
        success: whether the task reached its goal; None where nobody knows it.
    """

    outcome_id: str
    task_id: str
    ended_at: float
    success: bool | None


def runs_of_outcomes(
    connection: Connection, project_id: int, rows: Sequence[int]
) -> list[LessonRun]:
    """Return the runs of outcomes, in the order of their rows."""
    found = runs_by_row(connection, project_id, rows)
    return [found[row] for row in rows if row in found]


def runs_by_row(
    connection: Connection, project_id: int, rows: Sequence[int]
) -> dict[int, LessonRun]:
    """Return the runs of outcomes by their rows."""
    columns = outcomes.c
    query = select(
        columns.id, columns.outcome_id, columns.task_id, columns.ended_at, columns.success
    ).where(columns.project_id == project_id, columns.id.in_(rows))
    return {row.id: LessonRun(*row[1:]) for row in connection.execute(query)}
