"""The outcomes of each day, counted: of a million only these few rows are read.

They are counted when outcomes are taken in, as the counts of a project are, and counted anew by a
rebuild and after an import.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from math import floor
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Select,
    and_,
    case,
    cast,
    delete,
    func,
    insert,
    select,
)

from trackrecord.learning.numbers.decay import DAY
from trackrecord.wire.outcome_scorer import ScoredOutcome

from ..database.upsert import Upsert
from .as_of import OUTCOME_IS_CURRENT
from .tables import outcome_days, outcomes, removed_days

_COLUMNS: Final = ("project_id", "day", "outcomes", "successes", "without_verdict")
_ADD: Final = Upsert(
    outcome_days,
    _COLUMNS,
    key=_COLUMNS[:2],
    combine=lambda table, new: {name: table[name] + new[name] for name in _COLUMNS[2:]},
)


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


@dataclass(frozen=True, slots=True)
class RemovedRecord:
    """A record of an outcome that is to be removed.

    Attributes:
        row: its row.
        outcome_id: the outcome.
        received_at: from when on it counted.
        ended_at: when the task ended.
        success: whether it reached its goal; None where nobody knows.
        raw_score: its score; None without `success`.
        verdict: its verdict; None without `success`.
        names_criteria: whether its feedback is in criterion_feedback.
        replaced_at: when another record took its place; 0 where none has.
    """

    row: int
    outcome_id: str
    received_at: float
    ended_at: float
    success: bool | None
    raw_score: float | None
    verdict: str | None
    names_criteria: bool
    replaced_at: float


def day_of(moment: float) -> int:
    """Return the day of a moment in UTC; days since 1970. The database divides in the same way."""
    return floor(moment / DAY)


def end_of_day(moment: float) -> float:
    """Return when the day of a moment is over in UTC; seconds since the epoch."""
    return (day_of(moment) + 1) * DAY


def count_days(
    connection: Connection,
    project_ids: Mapping[str, int],
    recorded: Iterable[ScoredOutcome],
    replaced: Iterable[ScoredOutcome],
) -> None:
    """Count outcomes that were recorded, and no longer those that were replaced.

    Args:
        connection: within a writing transaction that records them.
        project_ids: the rows of the projects by name.
        recorded: the new ones.
        replaced: those that count no longer.
    """
    counts: defaultdict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0, 0])
    for more, batch in ((1, recorded), (-1, replaced)):
        for each in batch:
            count = counts[project_ids[each.project], day_of(each.ended_at)]
            count[0] += more
            if each.success:
                count[1] += more
            elif each.success is None:
                count[2] += more
    _ADD.execute(connection, [(*key, *count) for key, count in sorted(counts.items())])
    # An outcome that was amended may have ended on another day: a recount has no row without one.
    emptied = {project_id for (project_id, _), count in counts.items() if count[0] <= 0}
    if emptied:
        connection.execute(
            delete(outcome_days).where(
                outcome_days.c.project_id.in_(emptied), outcome_days.c.outcomes == 0
            )
        )


def recount_days(connection: Connection, project_id: int) -> None:
    """Recount the days of a project.

    Args:
        connection: within a writing transaction.
        project_id: whose.
    """
    connection.execute(delete(outcome_days).where(outcome_days.c.project_id == project_id))
    connection.execute(insert(outcome_days).from_select(_COLUMNS, _counted(project_id)))
    gone = removed_by_day(connection, project_id)
    _ADD.execute(connection, [(project_id, *astuple(each)) for each in gone])


def read_days(connection: Connection, project_id: int) -> list[CountedDay]:
    """Return the days on which tasks of a project ended, the first one first.

    Args:
        connection: a reading transaction.
        project_id: whose.
    """
    query = select(outcome_days).where(outcome_days.c.project_id == project_id)
    found = (CountedDay(*row[1:]) for row in connection.execute(query))
    return sorted((each for each in found if each.outcomes), key=lambda each: each.day)


_REMOVE: Final = Upsert(
    removed_days,
    ("project_id", "day", "ended_day", *_COLUMNS[2:]),
    key=("project_id", "day", "ended_day"),
    combine=lambda table, new: {name: table[name] + new[name] for name in _COLUMNS[2:]},
)


def count_removed(connection: Connection, project_id: int, gone: Iterable[RemovedRecord]) -> None:
    """Count records that are about to be removed, for a recount.

    Args:
        connection: within the transaction that removes them.
        project_id: whose.
        gone: the records of outcomes, all of each.
    """
    counts: defaultdict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0, 0])
    for each in gone:
        for moment, more in ((each.received_at, 1), (each.replaced_at, -1)):
            if moment:
                count = counts[day_of(moment), day_of(each.ended_at)]
                count[0] += more
                count[1] += more * bool(each.success)
                count[2] += more * (each.success is None)
    rows = [(project_id, *key, *count) for key, count in sorted(counts.items()) if any(count)]
    _REMOVE.execute(connection, rows)


def removed_by_day(connection: Connection, project_id: int) -> list[CountedDay]:
    """Return the counts of removed outcomes by the day on which their tasks ended.

    Args:
        connection: a transaction.
        project_id: whose.
    """
    table = removed_days.c
    query = (
        select(table.ended_day, *(_total(table[name]) for name in _COLUMNS[2:]))
        .where(table.project_id == project_id)
        .group_by(table.ended_day)
    )
    return [CountedDay(*map(int, row)) for row in connection.execute(query)]


def _total(column: ColumnElement[Any]) -> ColumnElement[Any]:
    return cast(func.sum(column), BigInteger)


def _counted(project_id: int) -> Select[Any]:
    """The query that counts the days of a project, in the order of the columns."""
    own = and_(outcomes.c.project_id == project_id, OUTCOME_IS_CURRENT)
    day = cast(func.floor(outcomes.c.ended_at / DAY), BigInteger)
    return (
        select(
            outcomes.c.project_id,
            day,
            func.count(),
            _sum(outcomes.c.success),
            _sum(outcomes.c.success.is_(None)),
        )
        .where(own)
        .group_by(outcomes.c.project_id, day)
    )


def _sum(condition: ColumnElement[Any]) -> ColumnElement[Any]:
    return cast(func.sum(case((condition, 1), else_=0)), BigInteger)
