"""The lessons that a project's runs tell, counted once for each state of the project.

Ten thousand runs take a fifth of a second to read and to count. A front door is asked often, so
that what was counted is kept until the project changes, and for half a minute at most, because runs
age.
"""

import time
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from threading import Lock
from typing import Final

from sqlalchemy import Connection

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.learning.advice.lessons.find import find_lessons
from trackrecord.learning.advice.lessons.lesson import Lesson
from trackrecord.store.advice.runs import read_noted_runs
from trackrecord.store.outcomes.projects import revision_of_row

_KEPT_S: Final = 30.0
_MOST_KEPT: Final = 8


@dataclass(frozen=True)
class FoundLesson:
    """A lesson, and whose runs it was counted from.

    Attributes:
        lesson: as it was counted.
        sources: the agents of its newest runs, by name.
    """

    lesson: Lesson
    sources: tuple[str, ...]


_Found = tuple[FoundLesson, ...]


def found_lessons(
    connection: Connection, settings: DaemonSettings, project_id: int, *, at: float | None = None
) -> _Found:
    """Return the lessons of a project, the strongest first.

    Args:
        connection: a reading transaction.
        settings: the rules.
        project_id: whose lessons.
        at: a past moment to answer for.
    """
    now = time.time()
    most = settings.advice.max_runs
    revision = revision_of_row(connection, project_id)
    key = (str(connection.engine.url), project_id, revision, settings.lessons, most, at)
    kept = _kept.get(key, now)
    if kept is None:
        runs = read_noted_runs(connection, project_id, limit=most, at=at)
        sources = {run.outcome: run.source for run in runs}
        lessons = find_lessons(runs, settings.lessons, now=now if at is None else at)
        kept = tuple(FoundLesson(each, _sources(each, sources)) for each in lessons)
        _kept.put(key, now, kept)
    return kept


def _sources(lesson: Lesson, sources: dict[int, str]) -> tuple[str, ...]:
    named = {sources.get(outcome, "") for outcome in lesson.outcomes}
    return tuple(sorted(named - {""}))


class _Kept:
    """The answers that were given last."""

    def __init__(self) -> None:
        self._answers: OrderedDict[Hashable, tuple[float, _Found]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, now: float) -> _Found | None:
        """Return an answer that is still good."""
        with self._lock:
            made_at, found = self._answers.get(key, (now, None))
            return found if 0.0 <= now - made_at <= _KEPT_S else None

    def put(self, key: Hashable, now: float, found: _Found) -> None:
        """Keep an answer, and let go of the oldest one beyond the limit."""
        with self._lock:
            self._answers[key] = (now, found)
            self._answers.move_to_end(key)
            while len(self._answers) > _MOST_KEPT:
                self._answers.popitem(last=False)


_kept: Final = _Kept()
