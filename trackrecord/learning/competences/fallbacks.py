"""Fallbacks: which other record to try where one fails."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from .record import Competence, TriggerCounts
from .rules import Status
from .selection import success_rate


def fallbacks_among(records: Iterable[Competence]) -> dict[str, tuple[str, ...]]:
    """Return the fallbacks of each record among the records of its project, by id.

    A record fails at a trigger that set off at least one of its failed episodes. A fallback is
    another active record with the same trigger signal that succeeded there at least once, and at a
    higher rate. The highest rate comes first, then more successes, then the lower id; at most
    five are named.
    """
    records = tuple(records)
    rivals = _by_signal(record for record in records if record.status is Status.ACTIVE)
    return {record.id: _fallbacks(record, rivals) for record in records}


_MOST: Final = 5
_Rivals = dict[str, list[tuple[str, TriggerCounts]]]


def _by_signal(records: Iterable[Competence]) -> _Rivals:
    rivals: _Rivals = defaultdict(list)
    for record in records:
        for trigger in record.triggers:
            if trigger.success_count > 0:
                rivals[trigger.signal].append((record.id, trigger))
    return rivals


def _fallbacks(record: Competence, rivals: _Rivals) -> tuple[str, ...]:
    best: dict[str, tuple[float, int]] = {}
    for trigger in record.triggers:
        if trigger.failure_count == 0:
            continue
        own_rate = _rate(trigger)
        for rival_id, rival in rivals.get(trigger.signal, ()):
            standing = (-_rate(rival), -rival.success_count)
            if rival_id != record.id and _rate(rival) > own_rate:
                best[rival_id] = min(standing, best.get(rival_id, standing))
    return tuple(sorted(best, key=lambda rival_id: (*best[rival_id], rival_id))[:_MOST])


def _rate(trigger: TriggerCounts) -> float:
    return success_rate(trigger.success_count, trigger.failure_count)
