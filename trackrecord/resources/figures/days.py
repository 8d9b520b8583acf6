"""Outcomes over time: how many of each day, and how many of them succeeded."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

from sqlalchemy import Connection

from trackrecord.learning.numbers.wilson import wilson_interval
from trackrecord.resources.access.project_rows import project_row
from trackrecord.store.outcomes.days import CountedDay, day_of, read_days

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC).date()
_LAST_DAY: Final = (date.max - _EPOCH).days


@dataclass(frozen=True)
class Day:
    """The outcomes of a day in UTC, by when their tasks ended.

    Attributes:
        day: as "2026-11-22".
        outcomes: all of them.
        successes: those whose task reached its goal.
        failures: those whose task did not.
        without_verdict: those of which nobody knows.
        rate: successes ÷ outcomes with a verdict; None without any.
        low: where the 95% interval of the rate begins.
        high: where it ends.
    """

    day: str
    outcomes: int
    successes: int
    failures: int
    without_verdict: int
    rate: float | None
    low: float | None
    high: float | None


def outcomes_by_day(connection: Connection, project: str, *, days: int, until: float) -> list[Day]:
    """Return the last days of a project, the first one first; those without outcomes, too.

    Args:
        connection: a reading transaction.
        project: whose outcomes.
        days: how many days.
        until: a moment of the last one, seconds since the epoch.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    counted = {each.day: each for each in read_days(connection, project_row(connection, project))}
    last = min(day_of(until), _LAST_DAY)
    first = max(0, last - days + 1)
    return [_day(day, counted.get(day, CountedDay(day, 0, 0, 0))) for day in range(first, last + 1)]


def _day(day: int, counted: CountedDay) -> Day:
    failures = counted.outcomes - counted.successes - counted.without_verdict
    judged = counted.successes + failures
    low, high = wilson_interval(counted.successes, failures) if judged else (None, None)
    return Day(
        day=(_EPOCH + timedelta(days=day)).isoformat(),
        outcomes=counted.outcomes,
        successes=counted.successes,
        failures=failures,
        without_verdict=counted.without_verdict,
        rate=counted.successes / judged if judged else None,
        low=low,
        high=high,
    )
