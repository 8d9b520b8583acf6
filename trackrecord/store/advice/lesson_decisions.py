"""Decisions by hand about lessons, and the runs behind lessons and changes of memories."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import ColumnElement, Connection, func, insert, select

from ..database.parts import in_parts
from ..outcomes.entries import OUTCOME_IS_CURRENT
from ..outcomes.projects import note_change
from ..outcomes.tables import outcomes
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
    note_change(connection, project_id, decision.at)
    is_dismissed = decision.lesson_id in dismissed_lessons(connection, project_id)
    if is_dismissed == (decision.action is LessonAction.DISMISS):
        return False
    values = vars(decision) | {"project_id": project_id, "action": decision.action.value}
    connection.execute(insert(lesson_decisions).values(values))
    return True


def dismissed_lessons(connection: Connection, project_id: int) -> Mapping[str, LessonDecision]:
    """Return the decisions by which lessons of a project are dismissed, by lesson.

    Args:
        connection: a reading transaction.
        project_id: whose lessons.
    """
    made = lesson_decisions.c
    last = select(func.max(made.id)).where(made.project_id == project_id).group_by(made.lesson_id)
    in_force = made.id.in_(last.scalar_subquery()), made.action == LessonAction.DISMISS.value
    return {each.lesson_id: each for each in _decisions(connection, *in_force)}


def lesson_history(connection: Connection, project_id: int, lesson_id: str) -> list[LessonDecision]:
    """Return the decisions about a lesson, the oldest first."""
    made = lesson_decisions.c
    return _decisions(connection, made.project_id == project_id, made.lesson_id == lesson_id)


def _decisions(connection: Connection, *where: ColumnElement[bool]) -> list[LessonDecision]:
    rows = connection.execute(
        select(lesson_decisions).where(*where).order_by(lesson_decisions.c.id)
    )
    return [
        LessonDecision(row.lesson_id, LessonAction(row.action), row.actor, row.reason, row.at)
        for row in rows
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
    of = outcomes.c
    query = select(of.id, of.outcome_id, of.task_id, of.ended_at, of.success).where(
        of.project_id == project_id, of.id.in_(rows)
    )
    found = {row.id: LessonRun(*row[1:]) for row in connection.execute(query)}
    return [found[row] for row in rows if row in found]


def runs_named(
    connection: Connection, project_id: int, names: Collection[str]
) -> Mapping[str, LessonRun]:
    """Return those of some ids that are of outcomes on record, with their runs."""
    table = outcomes.c
    query = select(table.outcome_id, table.task_id, table.ended_at, table.success).where(
        table.project_id == project_id, OUTCOME_IS_CURRENT
    )
    found: dict[str, LessonRun] = {}
    for some in in_parts(sorted(names)):
        rows = connection.execute(query.where(table.outcome_id.in_(some)))
        found |= {row.outcome_id: LessonRun(*row) for row in rows}
    return found


def tasks_of_exposures(
    connection: Connection, project_id: int, names: Collection[str]
) -> Mapping[str, str]:
    """Return the tasks that exposures name, by the ids of the exposures."""
    table = exposures.c
    found: dict[str, str] = {}
    for some in in_parts(sorted(names)):
        query = select(table.exposure_id, table.task_id).where(
            table.project_id == project_id, table.exposure_id.in_(some)
        )
        found |= {row.exposure_id: row.task_id for row in connection.execute(query)}
    return found
