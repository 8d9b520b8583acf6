"""HTTP calls for criteria, as far as they differ from the Python API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from trackrecord.resources.checks import Moment, moment_of


def weigh_scores(
    *,
    scores: Mapping[str, float],
    at: Moment | None = None,
    project: str,
) -> Mapping[str, Any]:
    """Weigh an evaluation: scores on criteria, each by how far the criterion can be relied on.

    Args:
        scores: By criterion, a number from 0 to 1.
        at: A past moment whose weights count.
        project: Whose criteria.
    """
    from trackrecord.learning.criteria.evaluation import checked_scores
    from trackrecord.resources import criteria
    from trackrecord.resources.project_store import read_project
    from trackrecord.times import iso

    checked, moment = checked_scores(scores), moment_of(at)
    with read_project(project, moment) as it:
        weighed = criteria.weigh_scores(it, checked)
    return {"project": project, "as_of": iso(moment), **asdict(weighed)}
