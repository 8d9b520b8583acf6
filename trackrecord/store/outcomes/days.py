"""The outcomes of each day, counted: of a million only these few rows are read."""

from dataclasses import dataclass
from math import floor

from sqlalchemy import Connection

from trackrecord.learning.numbers.decay import DAY

from ..ledger.read import day_counts
from ..ledger.subjects import HELPFUL, NEUTRAL


@dataclass(frozen=True)
class CountedDay:
    """The outcomes of one day.

    Attributes:
        day: the day on which their tasks ended, in UTC; days since 1970.
        outcomes: all of them.
        successes: those whose task reached its goal.
        without_verdict: those of which nobody knows whether it did.
    """

    day: int
    outcomes: int
    successes: int
    without_verdict: int


def day_of(moment: float) -> int:
    """Return the day of a moment in UTC; days since 1970."""
    return floor(moment / DAY)


def read_days(connection: Connection, project_id: int) -> list[CountedDay]:
    """Return the days on which tasks of a project ended, the first one first.

    Args:
        connection: a reading transaction.
        project_id: whose.
    """
    return [
        CountedDay(day, sum(cells.values()), cells.get(HELPFUL, 0), cells.get(NEUTRAL, 0))
        for day, cells in sorted(day_counts(connection, project_id).items())
    ]
