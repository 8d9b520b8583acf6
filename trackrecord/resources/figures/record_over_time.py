"""A competence record over time: how salient it was, and how often it had succeeded."""

import time
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection

from trackrecord.learning.competences.record import Performance
from trackrecord.learning.competences.rules import salience_now
from trackrecord.resources.access.project_rows import project_row
from trackrecord.resources.experience.competences import whole_record_id
from trackrecord.store.competences.credit import credited_performance
from trackrecord.store.competences.read import HistoryEntry, read_history

_POINTS: Final = 24
# Of a record that was changed again and again, the last changes.
_CHANGES: Final = 24


@dataclass(frozen=True)
class RecordMoment:
    """A record at one moment.

    Attributes:
        at: the moment, seconds since the epoch.
        salience: its salience, aged to the moment.
        successes: its successes up to then.
        failures: its failures up to then.
    """

    at: float
    salience: float
    successes: int
    failures: int


def record_over_time(
    connection: Connection, project: str, competence_id: str, *, at: float | None = None
) -> tuple[RecordMoment, ...]:
    """Return a record at evenly spaced moments of its life and at its last changes.

    Args:
        connection: a reading transaction.
        project: whose record.
        competence_id: the record's id, or the beginning of it.
        at: the moment that it ends with; None for now.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project never had such a record.
        AmbiguousId: several records' ids begin so.
    """
    project_id = project_row(connection, project)
    whole = whole_record_id(connection, project, competence_id)
    history = read_history(connection, project_id, whole, at=at)
    moments = _moments([entry.at for entry in history], time.time() if at is None else at)
    is_credited = bool(credited_performance(connection, [whole], at=at))
    found = []
    for moment in moments:
        credited = (
            credited_performance(connection, [whole], at=moment).get(whole) if is_credited else None
        )
        if (point := _at(history, moment, credited)) is not None:
            found.append(point)
    return tuple(found)


def _moments(changes: Sequence[float], end: float) -> list[float]:
    first = changes[0]
    even = [first + (end - first) * step / (_POINTS - 1) for step in range(_POINTS)]
    return sorted({*even, *changes[-_CHANGES:]} - {each for each in even if each > end})


def _at(
    history: Sequence[HistoryEntry], moment: float, credited: Performance | None
) -> RecordMoment | None:
    """Return the record at a moment; None where it was gone, or its content is erased."""
    place = bisect_right([entry.at for entry in history], moment) - 1
    record = history[place].record if place >= 0 else None
    if record is None:
        return None
    performance = record.performance if credited is None else record.performance.plus(credited)
    return RecordMoment(
        at=moment,
        salience=salience_now(record.salience, record.lifecycle, moment),
        successes=performance.success_count,
        failures=performance.failure_count,
    )
