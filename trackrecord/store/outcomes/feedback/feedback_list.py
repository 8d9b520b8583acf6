"""Feedback as a reader lists it."""

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, func, or_, select

from trackrecord.learning.outcomes.scoring import Verdict
from trackrecord.wire.feedback import Subject

from ..tables import feedback
from .feedback import GivenFeedback


@dataclass(frozen=True)
class FeedbackFilter:
    """The filter of a list of feedback; fields that are not set match everything.

    Attributes:
        subject: only that on things of this kind.
        name: only that on the thing of this name.
        task_id: only that of this task.
        is_waiting: only that on things that the project does not know yet.
    """

    subject: Subject | None = None
    name: str | None = None
    task_id: str | None = None
    is_waiting: bool = False


EVERY: Final = FeedbackFilter()


@dataclass(frozen=True)
class FeedbackOrder:
    """An order of feedback: the name of a column, and whether its largest value comes first."""

    column: str
    is_descending: bool


def read_feedback(
    connection: Connection,
    project_id: int,
    wanted: FeedbackFilter = EVERY,
    *,
    limit: int | None = None,
    by: FeedbackOrder | None = None,
    after: tuple[float, str] | None = None,
) -> list[tuple[GivenFeedback, bool]]:
    """Return feedback, that which was received last first, and whether it waits.

    Args:
        connection: a reading transaction.
        project_id: whose feedback.
        wanted: which feedback.
        limit: the maximum number to return.
        by: another order; what has no value comes last, equal ones in the order of their ids.
        after: when a piece of feedback was received, and its id: only what follows it, where no
            other order is asked for.
    """
    table = feedback.c
    first: ColumnElement[Any] = table.received_at.desc()
    if by is not None:
        column = table[by.column]
        first = (column.desc() if by.is_descending else column.asc()).nulls_last()
    query = _wanted(wanted, project_id)
    if after is not None:
        received_at, feedback_id = after
        same = and_(table.received_at == received_at, table.feedback_id > feedback_id)
        query = query.where(or_(table.received_at < received_at, same))
    query = query.order_by(first, table.feedback_id).limit(limit)
    return [(_given(row), row.is_waiting) for row in connection.execute(query)]


def count_feedback(connection: Connection, project_id: int, wanted: FeedbackFilter) -> int:
    """Return how much feedback matches; the arguments are those of `read_feedback`."""
    query = select(func.count()).select_from(_wanted(wanted, project_id).subquery())
    return connection.execute(query).scalar_one()


def _wanted(wanted: FeedbackFilter, project_id: int) -> Select[Any]:
    table = feedback.c
    query = select(feedback).where(table.project_id == project_id)
    for column, value in (
        (table.subject, wanted.subject),
        (table.name, wanted.name),
        (table.task_id, wanted.task_id),
    ):
        if value is not None:
            query = query.where(column == value)
    if wanted.is_waiting:
        query = query.where(table.is_waiting)
    return query


def _given(row: Row[Any]) -> GivenFeedback:
    return GivenFeedback(
        feedback_id=row.feedback_id,
        subject=row.subject,
        name=row.name,
        verdict=Verdict(row.verdict),
        given_at=row.given_at,
        received_at=row.received_at,
        task_id=row.task_id,
        source=row.source,
    )
