"""The lessons in a project's runs: counting ten thousand runs takes half a second."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from trackrecord.learning.advice.lessons.lesson import Lesson

# Not only for type checkers: what the worker counted is decoded by it.
from trackrecord.resources.access.answer_cache import CountedAnswers

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

    from trackrecord.learning.advice.runs.runs import NotedRun
    from trackrecord.settings.daemon_settings import DaemonSettings

    from .rates_over_time import Rates

_MOMENTS: Final = 12
_FEW_OUTCOMES: Final = 500


@dataclass(frozen=True)
class SourcedLesson:
    """A lesson, and whose runs it was counted from.

    Attributes:
        lesson: as it was counted.
        sources: the agents of its newest runs, by name.
    """

    lesson: Lesson
    sources: tuple[str, ...]


counted_lessons: Final = CountedAnswers[tuple[SourcedLesson, ...]](
    "lessons", lambda: tuple[SourcedLesson, ...], 8
)


def found_lessons(
    connection: Connection, settings: DaemonSettings, project_id: int, *, at: float | None = None
) -> tuple[SourcedLesson, ...]:
    """Return the lessons of a project, the strongest first; see `CountedAnswers`.

    Args:
        connection: a reading transaction.
        settings: the rules.
        project_id: whose lessons.
        at: a past moment to answer for.
    """

    def find() -> tuple[SourcedLesson, ...]:
        return _find(connection, settings, project_id, at)

    if at is not None:
        return counted_lessons.answer(connection, project_id, (settings.lessons, at), find)
    return counted_lessons.counted(connection, settings, project_id, settings.lessons, find)


def _find(
    connection: Connection, settings: DaemonSettings, project_id: int, at: float | None
) -> tuple[SourcedLesson, ...]:
    # Imported only where lessons are counted: it takes a command as long as all else.
    from trackrecord.learning.advice.lessons.find import find_lessons
    from trackrecord.learning.advice.tasks.heard import heard_runs
    from trackrecord.store.advice.runs import read_noted_runs

    runs = read_noted_runs(connection, project_id, at=at)
    runs = heard_runs(runs, settings.caps)
    lessons = find_lessons(runs, settings.lessons, now=time.time() if at is None else at)
    return with_sources(lessons, runs)


def with_sources(lessons: Iterable[Lesson], runs: Iterable[NotedRun]) -> tuple[SourcedLesson, ...]:
    """Return lessons with the agents that reported their newest runs."""
    sources = {run.outcome: run.source for run in runs}
    return tuple(SourcedLesson(each, _sources(each, sources)) for each in lessons)


def lesson_strength_over_time(
    connection: Connection,
    settings: DaemonSettings,
    project: str,
    lesson_id: str,
    *,
    at: float | None = None,
) -> Rates:
    """Return a lesson's strength at some moments from the first outcome up to now, or to a moment.

    All lessons are counted anew for each moment: see `is_quickly_counted`.

    Args:
        connection: a reading transaction.
        settings: the rules.
        project: whose lesson.
        lesson_id: its whole id.
        at: a past moment to answer for.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    from trackrecord.resources.access.project_rows import project_row
    from trackrecord.store.outcomes.projects import first_received

    from .rates_over_time import PastRate, evenly

    project_id = project_row(connection, project)
    until = time.time() if at is None else at
    since = first_received(connection, project_id)
    moments = evenly(until if since is None else since, until, _MOMENTS)
    return tuple(
        PastRate(moment, _strength(_find(connection, settings, project_id, moment), lesson_id))
        for moment in moments
    )


def is_quickly_counted(connection: Connection, project: str) -> bool:
    """Return whether the lessons of a project are counted in some ten milliseconds.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    from trackrecord.resources.access.project_rows import project_row
    from trackrecord.store.outcomes.projects import count_outcomes

    counts = count_outcomes(connection, project_row(connection, project), None)
    return counts.outcomes <= _FEW_OUTCOMES


def _strength(found: tuple[SourcedLesson, ...], lesson_id: str) -> float | None:
    return next((each.lesson.strength for each in found if each.lesson.id == lesson_id), None)


def _sources(lesson: Lesson, sources: dict[int, str]) -> tuple[str, ...]:
    named = {sources.get(outcome, "") for outcome in lesson.outcomes}
    return tuple(sorted(named - {""}))
