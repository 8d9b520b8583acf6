"""Decisions by hand about lessons, and the runs behind lessons and changes of memories."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import Connection, func, insert, select, update

from ..memories.read import CHUNK
from ..outcomes.entries import OUTCOME_IS_CURRENT
from ..outcomes.projects import clock_of, next_revision
from ..outcomes.tables import outcomes, projects
from .tables import exposures, lesson_decisions


class LessonAction(StrEnum):
    """The decisions that a person can take on a lesson."""

    DISMISS = "dismiss"
    RESTORE = "restore"


@dataclass(frozen=True)
class LessonDecision:
    """A decision by hand.

    Attributes:
        lesson_id: the lesson.
        action: what was decided.
        actor: who decided.
        reason: why; "" if no reason was given.
        at: when, seconds since the epoch.
    """

    lesson_id: str
    action: LessonAction
    actor: str
    reason: str
    at: float


def decide_lesson(connection: Connection, project_id: int, decision: LessonDecision) -> bool:
    """Record a decision; return whether it changes anything.

    Args:
        connection: a writing transaction.
        project_id: whose lesson.
        decision: what is decided.
    """
    # The project's row is held first: of two decisions at a time the second one sees the first.
    connection.execute(
        update(projects)
        .where(projects.c.id == project_id)
        .values(revision=next_revision(clock_of(decision.at)))
    )
    is_dismissed = decision.lesson_id in dismissed_lessons(connection, project_id)
    if is_dismissed == (decision.action is LessonAction.DISMISS):
        return False
    connection.execute(
        insert(lesson_decisions).values(
            project_id=project_id,
            lesson_id=decision.lesson_id,
            at=decision.at,
            action=decision.action.value,
            actor=decision.actor,
            reason=decision.reason,
        )
    )
    return True


def dismissed_lessons(connection: Connection, project_id: int) -> Mapping[str, LessonDecision]:
    """Return the decisions by which lessons of a project are dismissed, by lesson.

    Args:
        connection: a reading transaction.
        project_id: whose lessons.
    """
    made = lesson_decisions.c
    last = select(func.max(made.id)).where(made.project_id == project_id).group_by(made.lesson_id)
    query = select(made.lesson_id, made.action, made.actor, made.reason, made.at).where(
        made.id.in_(last.scalar_subquery()), made.action == LessonAction.DISMISS.value
    )
    return {
        row.lesson_id: LessonDecision(
            row.lesson_id, LessonAction(row.action), row.actor, row.reason, row.at
        )
        for row in connection.execute(query)
    }


def lesson_history(connection: Connection, project_id: int, lesson_id: str) -> list[LessonDecision]:
    """Return the decisions about a lesson, the oldest first."""
    made = lesson_decisions.c
    query = (
        select(made.lesson_id, made.action, made.actor, made.reason, made.at)
        .where(made.project_id == project_id, made.lesson_id == lesson_id)
        .order_by(made.id)
    )
    return [
        LessonDecision(row.lesson_id, LessonAction(row.action), row.actor, row.reason, row.at)
        for row in connection.execute(query)
    ]


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
