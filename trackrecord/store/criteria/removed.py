"""Feedback of outcomes that are removed: that of a day is put together in few rows.

As with the observations of patterns, see there. Own verdicts of outcomes that name no criterion,
which were in no row, become rows of the criteria that are the default ones that day.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, delete, select

from trackrecord.learning.criteria.weights import feedback_value
from trackrecord.learning.numbers.decay import DecayBasis, decayed
from trackrecord.learning.outcomes.scoring import Verdict

from ..database.upsert import insert_rows
from ..outcomes.days import RemovedRecord, day_of, end_of_day
from ..outcomes.verdicts.verdict_sums import VerdictSums, several
from .sums import CriterionDeltas
from .tables import criteria, criterion_feedback

_AT_ONCE: Final = 500
_COLUMNS: Final = tuple(criterion_feedback.c)


class _Given(NamedTuple):
    """Feedback of a record that goes, or the sum of such feedback."""

    criterion_id: int
    counted: float
    replaced: float | None
    row: int
    ended_at: float
    verdict: str
    value: float
    times: int = 1


def _given(criterion_id: int, record: RemovedRecord, verdict: str, value: float) -> _Given:
    replaced = end_of_day(record.replaced_at) if record.replaced_at else None
    counted = end_of_day(record.received_at)
    return _Given(criterion_id, counted, replaced, record.row, record.ended_at, verdict, value)


def fold_feedback(
    connection: Connection,
    project_id: int,
    gone: Sequence[RemovedRecord],
    half_life_days: float,
    defaults: Iterable[str],
) -> None:
    """Replace the feedback of records by the sums of each day.

    Args:
        connection: within the transaction that removes the records.
        project_id: whose.
        gone: the records.
        half_life_days: what the values of a row are added up by.
        defaults: the default criteria.
    """
    query = select(criteria.c.name, criteria.c.id).where(criteria.c.project_id == project_id)
    ids = {row.name: row.id for row in connection.execute(query)}
    given = _listed(connection, list(ids.values()), gone)
    days = {end_of_day(each.received_at) for each in gone}
    given += _summed(connection, list(ids.values()), days)
    given += [
        _given(ids[name], each, each.verdict, feedback_value(Verdict(each.verdict), each.raw_score))
        for each in gone
        if not each.names_criteria and each.verdict is not None and each.raw_score is not None
        for name in defaults
        if name in ids
    ]
    groups: defaultdict[tuple[Any, ...], list[_Given]] = defaultdict(list)
    for each in given:
        day = day_of(each.ended_at)
        groups[each.criterion_id, each.counted, each.replaced, day, each.verdict].append(each)
    rows = (_folded(key, some, half_life_days) for key, some in groups.items())
    insert_rows(connection, criterion_feedback, _COLUMNS, sorted(rows, key=lambda row: row[:3]))


def _listed(
    connection: Connection, ids: Sequence[int], gone: Sequence[RemovedRecord]
) -> list[_Given]:
    """Return the feedback that is in rows, and delete these."""
    named = [each for each in gone if each.names_criteria]
    seen = criterion_feedback.c
    found: list[_Given] = []
    for start in range(0, len(named), _AT_ONCE):
        by_row = {each.row: each for each in named[start : start + _AT_ONCE]}
        moments = [each.received_at for each in by_row.values()]
        those = (
            seen.criterion_id.in_(ids),
            seen.received_at.between(min(moments), max(moments)),
            seen.outcome.in_(by_row),
        )
        found += [
            _given(row.criterion_id, by_row[row.outcome], row.verdict, row.value)
            for row in connection.execute(select(criterion_feedback).where(*those))
        ]
        connection.execute(delete(criterion_feedback).where(*those))
    return found


def _summed(connection: Connection, ids: Sequence[int], days: Collection[float]) -> list[_Given]:
    """Delete the sums of some days, by their ends, to be added to; return them."""
    seen = criterion_feedback.c
    those = (seen.criterion_id.in_(ids), seen.received_at.in_(sorted(days)), seen.outcome < 0)
    found = [
        _Given(
            row.criterion_id, row.received_at, row.replaced_at, -row.outcome, row.ended_at,
            row.verdict, row.value, row.times,
        )
        for row in connection.execute(select(criterion_feedback).where(*those))
    ]  # fmt: skip
    connection.execute(delete(criterion_feedback).where(*those))
    return found


def _folded(
    key: tuple[Any, ...], given: Sequence[_Given], half_life_days: float
) -> tuple[Any, ...]:
    """Return the row of a group, its values in the order of the table."""
    criterion_id, counted, replaced, _, verdict = key
    last = max(each.ended_at for each in given)
    values = {
        "criterion_id": criterion_id,
        "received_at": counted,
        "outcome": -min(each.row for each in given),
        "ended_at": last,
        "verdict": verdict,
        "value": sum(decayed(each.value, last - each.ended_at, half_life_days) for each in given),
        "replaced_at": replaced,
        "times": sum(each.times for each in given),
    }
    return tuple([values[column.name] for column in _COLUMNS])


def folded_sums(connection: Connection, project_id: int, basis: DecayBasis) -> CriterionDeltas:
    """Return what removed outcomes add to each criterion: a rebuild begins with it."""
    seen = criterion_feedback.c
    query = (
        select(criterion_feedback, criteria.c.name)
        .join(criteria, criteria.c.id == seen.criterion_id)
        .where(criteria.c.project_id == project_id, seen.outcome < 0, seen.replaced_at.is_(None))
    )
    found = CriterionDeltas()
    for row in connection.execute(query):
        sums = found.named.setdefault((project_id, row.name), VerdictSums())
        each = row.value / row.times * basis.weight(row.ended_at)
        sums.merge(several(Verdict(row.verdict), each, row.times, row.ended_at))
    return found
