"""The call for one criterion with its feedback, a page at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trackrecord.beside import awaited
from trackrecord.resources.checks import Moment, moment_of, optional_limit_of
from trackrecord.resources.project_store import read_project

if TYPE_CHECKING:
    from trackrecord.queries.criteria import CriterionDetails


def show_criterion(
    name: str,
    *,
    limit: int | None = None,
    after: str | None = None,
    at: Moment | None = None,
    project: str | None = None,
) -> CriterionDetails:
    """Return a criterion with its feedback, newest first, a page at a time.

    Args:
        name: the criterion's name.
        limit: the maximum number of pieces of feedback; as many as the settings say when not given.
        after: the cursor of the page before.
        at: a past moment to answer for.
        project: the project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    moment, limit = moment_of(at), optional_limit_of(limit)
    with read_project(project) as here:
        from trackrecord.queries import criteria

        return criteria.show_criterion(
            here.connection, here.settings, here.project, name, at=moment, limit=limit, after=after
        )


ashow_criterion = awaited(show_criterion)
