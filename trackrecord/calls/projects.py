"""The call for projects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trackrecord.beside import awaited
from trackrecord.resources.checks import Moment, moment_of, optional_limit_of
from trackrecord.resources.project_store import open_project

if TYPE_CHECKING:
    from trackrecord.queries.projects import Project


def list_projects(*, at: Moment | None = None, limit: int | None = None) -> list[Project]:
    """Return the projects on record by name, each with its counts.

    Args:
        at: a past moment to answer for; projects that nothing was on record of are left out.
        limit: the maximum number of projects to return; all when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    moment, limit = moment_of(at), optional_limit_of(limit)
    with open_project(None) as here:
        from trackrecord.queries import projects
        from trackrecord.store.database.engine import reading

        with reading(here.engine) as connection:
            return projects.list_projects(connection, at=moment, limit=limit)[0]


alist_projects = awaited(list_projects)
