"""Decisions by hand about lessons: which ones are dismissed, by whom, when and why."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import Connection, func, insert, select, update

from ..outcomes.projects import clock_of, next_revision
from ..outcomes.tables import projects
from .tables import lesson_decisions


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
