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
    connection: Connection, settings: DaemonSettings, project_id: int
) -> tuple[SourcedLesson, ...]:
    """Return the lessons of a project, the strongest first; see `CountedAnswers`.

    Args:
        connection: a reading transaction.
        settings: the rules.
        project_id: whose lessons.
    """

    def find() -> tuple[SourcedLesson, ...]:
        return _find(connection, settings, project_id)

    return counted_lessons.counted(connection, settings, project_id, settings.lessons, find)


def _find(
    connection: Connection, settings: DaemonSettings, project_id: int
) -> tuple[SourcedLesson, ...]:
    # Imported only where lessons are counted: it takes a command as long as all else.
    from trackrecord.learning.advice.lessons.find import find_lessons
    from trackrecord.learning.advice.tasks.heard import heard_runs
    from trackrecord.store.advice.runs import read_noted_runs

    runs = read_noted_runs(connection, project_id)
    runs = heard_runs(runs, settings.caps)
    lessons = find_lessons(runs, settings.lessons, now=time.time())
    return with_sources(lessons, runs)


def with_sources(lessons: Iterable[Lesson], runs: Iterable[NotedRun]) -> tuple[SourcedLesson, ...]:
    """Return lessons with the agents that reported their newest runs."""
    sources = {run.outcome: run.source for run in runs}
    return tuple(SourcedLesson(each, _sources(each, sources)) for each in lessons)


def _sources(lesson: Lesson, sources: dict[int, str]) -> tuple[str, ...]:
    named = {sources.get(outcome, "") for outcome in lesson.outcomes}
    return tuple(sorted(named - {""}))
