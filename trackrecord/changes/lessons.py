"""Decisions about lessons: dismissed, restored."""

import time
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Engine

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.queries.lessons import whole_lesson_id
from trackrecord.queries.project_rows import project_row
from trackrecord.store.advice.lesson_decisions import LessonAction, LessonDecision, decide_lesson

from .writing import changing

Action = Literal["dismiss", "restore"]


@dataclass(frozen=True)
class LessonDecided:
    """A decision about a lesson.

    Attributes:
        id: the lesson.
        action: what was decided.
        changed: whether that changed anything.
        by: who decided.
        reason: why; None without a reason.
    """

    id: str
    action: Action
    changed: bool
    by: str
    reason: str | None

    def to_document(self) -> dict[str, Any]:
        """Return the decision as a JSON object."""
        return dict(vars(self))


def decide_about_lesson(
    engine: Engine,
    settings: DaemonSettings,
    project: str,
    lesson_id: str,
    action: Action,
    *,
    by: str,
    reason: str | None = None,
) -> LessonDecided:
    """Dismiss a lesson, or restore it.

    Args:
        engine: the store.
        settings: the rules.
        project: whose lesson.
        lesson_id: its id, or the beginning of it.
        action: what is decided.
        by: who decides.
        reason: why.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no such lesson.
        AmbiguousId: several lessons' ids begin so.
    """
    with changing(engine, settings, project) as connection:
        row = project_row(connection, project)
        whole = whole_lesson_id(connection, settings, project, lesson_id)
        decision = LessonDecision(whole, LessonAction(action), by, reason or "", time.time())
        changed = decide_lesson(connection, row, decision)
    return LessonDecided(whole, action, changed, by, reason)
