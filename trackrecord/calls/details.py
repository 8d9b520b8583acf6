"""The calls that show one thing with all that belongs to it, by its id or the beginning of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trackrecord.beside import awaited
from trackrecord.resources.checks import Moment, moment_of, text_of
from trackrecord.resources.project_store import read_project

if TYPE_CHECKING:
    from trackrecord.queries.competences import RecordDetails
    from trackrecord.queries.lessons import LessonDetails
    from trackrecord.queries.patterns import PatternDetails


def show_pattern(
    pattern_id: str, *, at: Moment | None = None, project: str | None = None
) -> PatternDetails:
    """Return a pattern with its estimate, its newest examples and its changes of state.

    Args:
        pattern_id: the pattern's id, that of its anti-pattern, or the beginning of either.
        at: a past moment to answer for.
        project: the pattern's project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    pattern_id, moment = text_of("pattern_id", pattern_id), moment_of(at)
    with read_project(project) as here:
        from trackrecord.queries import patterns

        return patterns.show_pattern(
            here.connection, here.settings, here.project, pattern_id, at=moment
        )


def show_lesson(
    lesson_id: str, *, at: Moment | None = None, project: str | None = None
) -> LessonDetails:
    """Return a lesson with its newest runs, and the decisions about it.

    Args:
        lesson_id: the lesson's id, or the beginning of it.
        at: a past moment to answer for.
        project: the lesson's project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    lesson_id, moment = text_of("lesson_id", lesson_id), moment_of(at)
    with read_project(project) as here:
        from trackrecord.queries import lessons

        return lessons.show_lesson(
            here.connection, here.settings, here.project, lesson_id, at=moment
        )


def show_competence(
    competence_id: str, *, at: Moment | None = None, project: str | None = None
) -> RecordDetails:
    """Return a competence record with its fallbacks, provenance, estimate and history.

    Args:
        competence_id: the record's id, or the beginning of it.
        at: a past moment to answer for.
        project: the record's project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    competence_id, moment = text_of("competence_id", competence_id), moment_of(at)
    with read_project(project) as here:
        from trackrecord.queries import competences

        return competences.show_competence(
            here.connection, here.settings, here.project, competence_id, at=moment
        )


ashow_pattern = awaited(show_pattern)
ashow_lesson = awaited(show_lesson)
ashow_competence = awaited(show_competence)
