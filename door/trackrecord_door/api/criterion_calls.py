"""What HTTP offers of criteria, where it differs from the Python API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from trackrecord.resources.checks import Moment, moment_of

if TYPE_CHECKING:
    from trackrecord_door.floor import Floor


def weigh_scores(
    floor: Floor,
    *,
    scores: Mapping[str, float],
    at: Moment | None = None,
    project: str,
) -> Mapping[str, Any]:
    """Weigh an evaluation: scores on criteria, each by how far the criterion can be relied on.

    Args:
        floor: has the store.
        scores: By criterion, a number from 0 to 1.
        at: A past moment whose weights count.
        project: Whose criteria.
    """
    from trackrecord.learning.criteria.evaluation import checked_scores
    from trackrecord.queries import criteria
    from trackrecord.store.database.engine import reading
    from trackrecord.times import iso

    checked, moment = checked_scores(scores), moment_of(at)
    with reading(floor.engine) as connection:
        weighed = criteria.weigh_scores(connection, floor.settings, project, checked, at=moment)
    return {"project": project, "as_of": iso(moment), **asdict(weighed)}
