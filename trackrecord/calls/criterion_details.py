"""The call for one criterion with its feedback, a page at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trackrecord.beside import awaited

from .given import Moment, moment_of, optional_limit_of
from .here import reading_here

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
    with reading_here(project) as (connection, here):
        from trackrecord.queries import criteria

        return criteria.show_criterion(
            connection, here.settings, here.project, name, at=moment, limit=limit, after=after
        )


ashow_criterion = awaited(show_criterion)
