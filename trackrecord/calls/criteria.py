"""The call for criteria: an evaluation, weighed; it reads what `rankings()` reads, and no store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trackrecord.async_calls import awaited

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trackrecord.prompt.reading.weighing import Weighing


def weigh(scores: Mapping[str, float], *, project: str | None = None) -> Weighing:
    """Weigh an evaluation: scores on criteria, each by how far the criterion can be relied on.

    A deprecated criterion has no say. One without feedback has the weight that the settings give
    to it, 1, and its part says so. Never raises for Redis: see `Weighing.problem`.

    Args:
        scores: by criterion, a number from 0 to 1; True and False stand for 1 and 0.
        project: whose criteria; the settings' project when not given.

    Raises:
        InvalidScores: a score is not one; the message names the criterion.
    """
    from trackrecord.prompt.reading import weighing

    return weighing.weigh(scores, project=project)


aweigh = awaited(weigh)
