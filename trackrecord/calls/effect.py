"""The call that tells whether advice helps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trackrecord.beside import awaited

from .given import Moment, moment_of
from .here import reading_here

if TYPE_CHECKING:
    from trackrecord.queries.effect import MeasuredEffect


def effect(*, at: Moment | None = None, project: str | None = None) -> MeasuredEffect:
    """Return whether advice helps: tasks that were handed advice beside tasks without.

    Args:
        at: a past moment to answer for.
        project: the project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    moment = moment_of(at)
    with reading_here(project) as (connection, here):
        from trackrecord.queries.effect import measure_effect

        return measure_effect(connection, here.project, setting=here.settings.holdout, at=moment)


aeffect = awaited(effect)
