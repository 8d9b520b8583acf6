"""The runs behind a lesson or a change of a memory, as a person looks them up."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from ..memories.read import CHUNK
from ..outcomes.as_of import OUTCOME_IS_CURRENT
from ..outcomes.tables import outcomes
from .tables import exposures


@dataclass(frozen=True)
class LessonRun:
    """One run behind a lesson, or that confirmed or rejected a memory.

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


def runs_named(
    connection: Connection, project_id: int, names: Collection[str]
) -> Mapping[str, LessonRun]:
    """Return those of some ids that are of outcomes on record, with their runs."""
    table = outcomes.c
    query = select(table.outcome_id, table.task_id, table.ended_at, table.success).where(
        table.project_id == project_id, OUTCOME_IS_CURRENT
    )
    found: dict[str, LessonRun] = {}
    wanted = sorted(names)
    for start in range(0, len(wanted), CHUNK):
        some = query.where(table.outcome_id.in_(wanted[start : start + CHUNK]))
        found |= {row.outcome_id: LessonRun(*row) for row in connection.execute(some)}
    return found


def tasks_of_exposures(
    connection: Connection, project_id: int, names: Collection[str]
) -> Mapping[str, str]:
    """Return the tasks that exposures name, by the ids of the exposures."""
    table = exposures.c
    found: dict[str, str] = {}
    wanted = sorted(names)
    for start in range(0, len(wanted), CHUNK):
        query = select(table.exposure_id, table.task_id).where(
            table.project_id == project_id, table.exposure_id.in_(wanted[start : start + CHUNK])
        )
        found |= {row.exposure_id: row.task_id for row in connection.execute(query)}
    return found
