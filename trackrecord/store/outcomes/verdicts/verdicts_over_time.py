"""Sums of verdicts at many past moments, from one walk through the rows.

A row is read once, with the moments between which it was received. What was received between two
moments is weighed for the later one, and ages as a whole from there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from sys import float_info
from typing import Any, Final

from sqlalchemy import (
    CTE,
    ColumnElement,
    Connection,
    Double,
    FromClause,
    Integer,
    Row,
    Select,
    and_,
    case,
    column,
    func,
    literal,
    select,
    values,
)

from trackrecord.learning.numbers.decay import decayed
from trackrecord.learning.numbers.verdict_counts import VerdictCounts, sum_of
from trackrecord.learning.outcomes.scoring import Verdict
from trackrecord.wire.feedback import Subject

from ...database.decay_in_sql import weight_at
from ..tables import feedback

_BEFORE_ALL: Final = -float_info.max


@dataclass(frozen=True)
class VerdictRows:
    """Rows that hold a verdict each.

    Attributes:
        table: where they stand.
        name: the column of what the verdict is on.
        received_at: the column of the moment from which it counts.
        ended_at: the column of the moment from which it decays.
        verdict: the column of the verdict.
        value: what it counts for.
        where: which rows count.
        replaced_at: the column of the moment from which it counts no more, NULL until then; None
            where nothing replaces it.
        times: the column of how many verdicts it holds; None where each row holds one.
    """

    table: FromClause
    name: ColumnElement[Any]
    received_at: ColumnElement[Any]
    ended_at: ColumnElement[Any]
    verdict: ColumnElement[Any]
    value: ColumnElement[Any]
    where: ColumnElement[bool]
    replaced_at: ColumnElement[Any] | None = None
    times: ColumnElement[Any] | None = None


def feedback_rows(project_id: int, subject: Subject, names: Sequence[str]) -> VerdictRows:
    """Return the rows of the feedback on patterns or criteria."""
    given = feedback.c
    return VerdictRows(
        feedback, given.name, given.received_at, given.given_at, given.verdict, given.value,
        and_(given.project_id == project_id, given.subject == subject, given.name.in_(names)),
    )  # fmt: skip


@dataclass(frozen=True)
class PastCounts:
    """Verdicts as of a moment.

    Attributes:
        counts: those that stood then.
        had_come: whether any had been received by then, even if it had been replaced.
    """

    counts: VerdictCounts
    had_come: bool


def verdicts_over_time(
    connection: Connection, rows: VerdictRows, moments: Sequence[float], half_life_days: float
) -> dict[Any, list[PastCounts]]:
    """Return what verdicts come to at each moment, by name; names without any are left out.

    Args:
        connection: a reading transaction.
        rows: the verdicts.
        moments: rising.
        half_life_days: days after which a verdict counts half.
    """
    found: dict[Any, list[Row[Any]]] = {}
    if moments:
        for row in connection.execute(_query(rows, moments, half_life_days)):
            found.setdefault(row.subject, []).append(row)
    return {
        name: list(_over_time(groups, moments, half_life_days)) for name, groups in found.items()
    }


def _query(rows: VerdictRows, moments: Sequence[float], half_life_days: float) -> Select[Any]:
    spans = _spans(moments)
    helpful = rows.verdict == Verdict.HELPFUL.value
    harmful = rows.verdict == Verdict.HARMFUL.value
    weighed = rows.value * weight_at(rows.ended_at, spans.c.until, half_life_days)
    subject, gone = rows.name.label("subject"), _end(rows, spans, len(moments)).label("gone")
    times = literal(1) if rows.times is None else rows.times
    received = and_(rows.received_at > spans.c.since, rows.received_at <= spans.c.until)
    return (
        select(
            subject,
            spans.c.number,
            gone,
            func.sum(times).label("total"),
            func.sum(case((helpful, times), else_=0)).label("helpful"),
            func.sum(case((harmful, times), else_=0)).label("harmful"),
            func.sum(case((helpful, weighed), else_=0.0)).label("decayed_helpful"),
            func.sum(case((harmful, weighed), else_=0.0)).label("decayed_harmful"),
        )
        .select_from(spans)
        .join(rows.table, received)
        .where(rows.where)
        .group_by(subject, spans.c.number, gone)
    )


def _spans(moments: Sequence[float]) -> CTE:
    """Return a table of the spans between moments; the first one begins before everything."""
    ends = pairwise((_BEFORE_ALL, *moments))
    columns = (column("number", Integer), column("since", Double), column("until", Double))
    rows = [(number, since, until) for number, (since, until) in enumerate(ends)]
    return values(*columns, name="spans").data(rows).cte("spans")


def _end(rows: VerdictRows, spans: CTE, count: int) -> ColumnElement[Any]:
    """Return the number of the first moment at which a row was replaced; the count for none."""
    if rows.replaced_at is None:
        return literal(count)
    others = spans.alias("others")
    before = select(func.count()).where(others.c.until < rows.replaced_at).scalar_subquery()
    return case((rows.replaced_at.is_(None), literal(count)), else_=before)


def _over_time(
    groups: Sequence[Row[Any]], moments: Sequence[float], half_life_days: float
) -> Iterator[PastCounts]:
    first = min(row.number for row in groups)
    for number, moment in enumerate(moments):
        current_as_of = [row for row in groups if row.number <= number < row.gone]
        aged = [_aged(row, moment - moments[row.number], half_life_days) for row in current_as_of]
        yield PastCounts(sum_of(aged), first <= number)


def _aged(row: Row[Any], seconds: float, half_life_days: float) -> VerdictCounts:
    left = decayed(1.0, seconds, half_life_days)
    helpful, harmful = int(row.helpful), int(row.harmful)
    return VerdictCounts(
        helpful=helpful,
        neutral=int(row.total) - helpful - harmful,
        harmful=harmful,
        decayed_helpful=left * row.decayed_helpful,
        decayed_harmful=left * row.decayed_harmful,
    )
