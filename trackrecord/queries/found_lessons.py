"""The lessons that a project's runs tell: ten thousand runs take a fifth of a second to count."""

import time
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.learning.advice.lessons.find import find_lessons
from trackrecord.learning.advice.lessons.lesson import Lesson
from trackrecord.store.advice.runs import read_noted_runs

from .kept import Kept


@dataclass(frozen=True)
class FoundLesson:
    """A lesson, and whose runs it was counted from.

    Attributes:
        lesson: as it was counted.
        sources: the agents of its newest runs, by name.
    """

    lesson: Lesson
    sources: tuple[str, ...]


_kept: Final = Kept[tuple[FoundLesson, ...]](8)


def found_lessons(
    connection: Connection, settings: DaemonSettings, project_id: int, *, at: float | None = None
) -> tuple[FoundLesson, ...]:
    """Return the lessons of a project, the strongest first; see `Kept`.

    Args:
        connection: a reading transaction.
        settings: the rules.
        project_id: whose lessons.
        at: a past moment to answer for.
    """
    most = settings.advice.max_runs

    def find() -> tuple[FoundLesson, ...]:
        runs = read_noted_runs(connection, project_id, limit=most, at=at)
        sources = {run.outcome: run.source for run in runs}
        moment = time.time() if at is None else at
        lessons = find_lessons(runs, settings.lessons, now=moment)
        return tuple(FoundLesson(each, _sources(each, sources)) for each in lessons)

    return _kept.answer(connection, project_id, (settings.lessons, most, at), find)


def _sources(lesson: Lesson, sources: dict[int, str]) -> tuple[str, ...]:
    named = {sources.get(outcome, "") for outcome in lesson.outcomes}
    return tuple(sorted(named - {""}))
