"""Exposures: the entries that tasks were given, or would have been given."""

from collections.abc import Iterable

import msgspec


class Exposure(msgspec.Struct, frozen=True, kw_only=True):
    """The exposure of one task.

    Attributes:
        exposure_id: given by the producer.
        task_id: the task.
        at: when, seconds since the epoch.
        is_withheld: whether the task belongs to the holdout: then it got nothing, and the entries
            are those that it would have got.
        holdout: the share of tasks that was withheld advice at that time.
        propensity: how probable it was that the task was assigned so.
        revision: the revision of the rankings.
        entries: the ids of the entries, best first.
    """

    exposure_id: str
    task_id: str
    at: float
    is_withheld: bool = False
    holdout: float = 0.0
    propensity: float = 1.0
    revision: int = 0
    entries: tuple[str, ...] = ()


def first_exposures(exposures: Iterable[Exposure]) -> dict[str, Exposure]:
    """Return the first exposure of each task by its id, for exposures in any order.

    Later ones are retries: their tasks were assigned before.
    """
    first: dict[str, Exposure] = {}
    for each in exposures:
        known = first.get(each.task_id)
        if known is None or (each.at, each.exposure_id) < (known.at, known.exposure_id):
            first[each.task_id] = each
    return first
