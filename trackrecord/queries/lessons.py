"""Lessons as a reader is shown them: all of a project, and one with the runs behind it."""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any

import msgspec
from sqlalchemy import Connection

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.learning.advice.lessons.lesson import Lesson, LessonKind, LessonState
from trackrecord.resources.checks import optional_member_of
from trackrecord.store.advice.lesson_decisions import (
    LessonDecision,
    dismissed_lessons,
    lesson_history,
)
from trackrecord.store.advice.lesson_runs import LessonRun, runs_of_outcomes
from trackrecord.times import iso

from .found_lessons import found_lessons
from .project_rows import project_row
from .short_ids import matching, whole_id


@dataclass(frozen=True)
class LessonFilter:
    """Which lessons are wanted; None stands for any.

    Attributes:
        tool: a tool that they concern.
        kind: their kind.
        state: their state.
        everything: whether faded and dismissed ones are wanted, too.
        source: an agent that is among those of their newest runs.
        content: a text that they hold, whatever its case.
    """

    tool: str | None = None
    kind: LessonKind | None = None
    state: LessonState | None = None
    everything: bool = False
    source: str | None = None
    content: str | None = None

    def takes(self, known: "KnownLesson") -> bool:
        """Return whether a lesson is wanted."""
        lesson = known.lesson
        is_over = lesson.state is LessonState.FADED and self.state is not LessonState.FADED
        return (
            (self.everything or not (is_over or known.dismissed))
            and (self.tool is None or self.tool in lesson.tools)
            and (self.kind is None or self.kind is lesson.kind)
            and (self.state is None or self.state is lesson.state)
            and (self.source is None or self.source in known.sources)
            and (self.content is None or self.content.casefold() in known.text.casefold())
        )


EVERY = LessonFilter()


def lesson_filter(
    *,
    tool: str | None,
    kind: str | None,
    state: str | None,
    everything: bool,
    source: str | None = None,
    content: str | None = None,
) -> LessonFilter:
    """Return the filter for lessons about a tool, of a kind, in a state, of an agent's runs.

    Raises:
        InvalidRequest: there is no such kind, or no such state.
    """
    return LessonFilter(
        tool,
        optional_member_of("kind", kind, LessonKind),
        optional_member_of("state", state, LessonState),
        everything,
        source,
        content,
    )


@dataclass(frozen=True)
class KnownLesson:
    """A lesson, and whether somebody dismissed it.

    Attributes:
        lesson: as it was counted.
        dismissed: the decision by which it is dismissed, None if it is not.
        sources: the agents of its newest runs, by name.
    """

    lesson: Lesson
    dismissed: LessonDecision | None = None
    sources: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The lesson's id."""
        return self.lesson.id

    @property
    def text(self) -> str:
        """What the lesson says, in English."""
        return self.lesson.lines["en"]

    def to_document(self) -> dict[str, Any]:
        """Return the lesson as a JSON object."""
        document = msgspec.structs.asdict(self.lesson)
        for name in ("outcomes", "also", "lines"):
            del document[name]
        return {
            "text": self.lesson.lines["en"],
            **document,
            "last_seen": iso(self.lesson.last_seen),
            "dismissed": self.dismissed is not None,
        }


@dataclass(frozen=True)
class LessonDetails:
    """A lesson with the runs behind it and what was decided about it.

    Attributes:
        known: the lesson.
        outcomes: its newest runs, the newest first.
        history: decisions about it, the oldest first.
    """

    known: KnownLesson
    outcomes: tuple[LessonRun, ...]
    history: tuple[LessonDecision, ...]

    def to_document(self) -> dict[str, Any]:
        """Return the lesson with its runs and its history as a JSON object."""
        return self.known.to_document() | {
            "lines": self.known.lesson.lines,
            "also": list(self.known.lesson.also),
            "outcomes": [{**asdict(run), "ended_at": iso(run.ended_at)} for run in self.outcomes],
            "history": [
                {
                    "at": iso(decision.at),
                    "action": decision.action,
                    "by": decision.actor,
                    "reason": decision.reason,
                }
                for decision in self.history
            ],
        }


def list_lessons(
    connection: Connection,
    settings: DaemonSettings,
    project: str,
    *,
    at: float | None = None,
    wanted: LessonFilter = EVERY,
) -> list[KnownLesson]:
    """Return the lessons of a project, the strongest first.

    Args:
        connection: a reading transaction.
        settings: the rules.
        project: whose lessons.
        at: a past moment to answer for: runs received and decisions taken by then count.
        wanted: which lessons.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    project_id = project_row(connection, project)
    found = _lessons(connection, settings, project_id, at)
    return [known for known in found if wanted.takes(known)]


def show_lesson(
    connection: Connection,
    settings: DaemonSettings,
    project: str,
    lesson_id: str,
    *,
    at: float | None = None,
) -> LessonDetails:
    """Return one lesson by its id, or the beginning of it, with the runs behind it.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no such lesson, or had none at that moment.
        AmbiguousId: several lessons' ids begin so.
    """
    project_id = project_row(connection, project)
    found = {each.lesson.id: each for each in _lessons(connection, settings, project_id, at)}
    known = found[_whole_lesson_id(lesson_id, found, project)]
    return LessonDetails(
        known,
        tuple(runs_of_outcomes(connection, project_id, known.lesson.outcomes)),
        tuple(lesson_history(connection, project_id, known.lesson.id, at=at)),
    )


def whole_lesson_id(
    connection: Connection, settings: DaemonSettings, project: str, lesson_id: str
) -> str:
    """Return the id of the lesson that the beginning of one stands for, a dismissed one's too.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no such lesson.
        AmbiguousId: several lessons' ids begin so.
    """
    project_id = project_row(connection, project)
    # A dismissed lesson may not be found any more, and can be restored all the same.
    known = {each.lesson.id for each in _lessons(connection, settings, project_id, None)}
    known.update(dismissed_lessons(connection, project_id))
    return _whole_lesson_id(lesson_id, known, project)


def _lessons(
    connection: Connection, settings: DaemonSettings, project_id: int, at: float | None
) -> list[KnownLesson]:
    dismissed = dismissed_lessons(connection, project_id, at=at)
    return [
        KnownLesson(found.lesson, dismissed.get(found.lesson.id), found.sources)
        for found in found_lessons(connection, settings, project_id, at=at)
    ]


def _whole_lesson_id(given: str, known: Collection[str], project: str) -> str:
    return whole_id(
        given,
        matching(given, known),
        f"project {project!r} has no lesson {given!r}",
        hint="`trackrecord lessons list --all` shows its lessons",
        near=lambda: known,
    )
