"""The calls that list what is on record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trackrecord.beside import awaited
from trackrecord.resources.checks import (
    Moment,
    moment_of,
    optional_limit_of,
    optional_text_of,
)
from trackrecord.resources.project_store import read_project

if TYPE_CHECKING:
    from trackrecord.queries.competences import CompetenceRecord
    from trackrecord.queries.lessons import KnownLesson


def list_competences(
    *, at: Moment | None = None, limit: int | None = None, project: str | None = None
) -> list[CompetenceRecord]:
    """Return the competence records of a project, best first.

    Args:
        at: a past moment to answer for.
        limit: the maximum number of records to return; all when not given.
        project: the records' project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    moment, limit = moment_of(at), optional_limit_of(limit)
    with read_project(project) as here:
        from trackrecord.queries import competences

        found = competences.list_competences(
            here.connection, here.settings, here.project, at=moment
        )
    return found[:limit]


def list_lessons(
    *,
    tool: str | None = None,
    kind: str | None = None,
    state: str | None = None,
    everything: bool = False,
    at: Moment | None = None,
    limit: int | None = None,
    project: str | None = None,
) -> list[KnownLesson]:
    """Return the lessons from tool calls, strongest first.

    Args:
        tool: only lessons that concern this tool.
        kind: only lessons of this kind, for example `fails`.
        state: only lessons in this state: `seen`, `established` or `faded`.
        everything: whether faded and dismissed lessons are returned, too.
        at: a past moment to answer for.
        limit: the maximum number of lessons to return; all when not given.
        project: the lessons' project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    tool = optional_text_of("tool", tool)
    moment, limit = moment_of(at), optional_limit_of(limit)
    with read_project(project) as here:
        from trackrecord.queries import lessons

        wanted = lessons.lesson_filter(tool=tool, kind=kind, state=state, everything=everything)
        found = lessons.list_lessons(
            here.connection, here.settings, here.project, at=moment, wanted=wanted
        )
    return found[:limit]


alist_competences = awaited(list_competences)
alist_lessons = awaited(list_lessons)
