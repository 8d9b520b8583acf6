"""The calls that decide about lessons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trackrecord.beside import awaited
from trackrecord.resources.checks import decided_by, text_of
from trackrecord.resources.project_store import open_project

if TYPE_CHECKING:
    from trackrecord.changes.lessons import Action, LessonDecided


def dismiss_lesson(
    lesson_id: str, *, reason: str | None = None, by: str | None = None, project: str | None = None
) -> LessonDecided:
    """Dismiss a lesson for good: no prompt shows it until it is restored.

    Args:
        lesson_id: the lesson's id, or the beginning of it.
        reason: the reason; the history keeps it.
        by: who decides; this process's user when not given.
        project: the lesson's project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    return _decide("dismiss", lesson_id, reason, by, project)


def restore_lesson(
    lesson_id: str, *, reason: str | None = None, by: str | None = None, project: str | None = None
) -> LessonDecided:
    """Take back the dismissal of a lesson.

    Args:
        lesson_id: the lesson's id, or the beginning of it.
        reason: the reason; the history keeps it.
        by: who decides; this process's user when not given.
        project: the lesson's project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    return _decide("restore", lesson_id, reason, by, project)


def _decide(
    action: Action, lesson_id: str, reason: str | None, by: str | None, project: str | None
) -> LessonDecided:
    lesson_id = text_of("lesson_id", lesson_id)
    actor, given_reason = decided_by(by, reason)
    with open_project(project) as here:
        from trackrecord.changes.lessons import decide_about_lesson

        return decide_about_lesson(
            here.engine,
            here.settings,
            here.project,
            lesson_id,
            action,
            by=actor,
            reason=given_reason,
        )


adismiss_lesson = awaited(dismiss_lesson)
arestore_lesson = awaited(restore_lesson)
