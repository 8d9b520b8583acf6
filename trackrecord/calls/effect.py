"""The call that measures the effect of advice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trackrecord.async_calls import awaited
from trackrecord.resources.checks import Moment, moment_of
from trackrecord.resources.project_store import read_project

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
    with read_project(project) as here:
        from trackrecord.queries.effect import measure_effect

        return measure_effect(
            here.connection, here.project, setting=here.settings.holdout, at=moment
        )


aeffect = awaited(effect)
