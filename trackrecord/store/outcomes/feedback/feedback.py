"""Feedback on one pattern, criterion or memory alone, as it was received."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    and_,
    bindparam,
    delete,
    func,
    or_,
    select,
    update,
)

from trackrecord.learning.criteria.weights import NAMED_VALUE
from trackrecord.learning.outcomes.scoring import Verdict
from trackrecord.wire.feedback import FeedbackBody, Subject

from ...database.upsert import insert_rows
from ..tables import feedback


def last_given(
    subject: Subject,
    project_id: ColumnElement[int] | int,
    name: ColumnElement[str] | str,
    *,
    neutral_counts: bool,
) -> ColumnElement[Any]:
    """Return when the last feedback on a subject was given that counts, as a part of a query."""
    given = feedback.c
    query = select(func.max(given.given_at)).where(
        given.project_id == project_id,
        given.subject == subject,
        given.name == name,
        ~given.is_waiting,
    )
    if not neutral_counts:
        query = query.where(given.verdict != Verdict.NEUTRAL.value)
    return query.scalar_subquery()


@dataclass(frozen=True)
class GivenFeedback:
    """A verdict on one pattern, criterion or memory.

    Attributes:
        feedback_id: unique in its project.
        subject: what kind of thing it is about.
        name: the pattern's slug, the criterion's name or the memory's id.
        verdict: helpful, neutral or harmful.
        given_at: when it was given, never later than it was received.
        received_at: seconds since the epoch.
        task_id: the task that it comes from, if known.
        source: who gave it, if known.
    """

    feedback_id: str
    subject: Subject
    name: str
    verdict: Verdict
    given_at: float
    received_at: float
    task_id: str | None = None
    source: str | None = None


def given_feedback(
    body: FeedbackBody,
    slug_of: Callable[[str], str | None],
    *,
    feedback_id: str,
    received_at: float,
) -> GivenFeedback:
    """Return feedback as it is recorded.

    Args:
        body: as it was given.
        slug_of: returns the identity of a pattern's name.
        feedback_id: the id to use if the body has none.
        received_at: seconds since the epoch.

    Raises:
        InvalidFeedback: the pattern's name holds neither a letter nor a digit.
    """
    subject, name = body.subject(slug_of)
    return GivenFeedback(
        feedback_id=body.feedback_id or feedback_id,
        subject=subject,
        name=name,
        verdict=Verdict(body.verdict),
        given_at=body.given_at(received_at),
        received_at=received_at,
        task_id=body.task_id,
        source=body.source,
    )


_COLUMNS: Final = tuple(column for column in feedback.c if column.name != "id")


def record_feedback(
    connection: Connection, project_id: int, given: Iterable[GivenFeedback]
) -> list[GivenFeedback]:
    """Store feedback; return what was new.

    Args:
        connection: within a writing transaction.
        project_id: whose feedback.
        given: in any order; of several with one id, the one that was received first is recorded.
    """
    by_id: dict[str, GivenFeedback] = {}
    for each in sorted(given, key=lambda each: (each.received_at, each.feedback_id)):
        by_id.setdefault(each.feedback_id, each)
    rows = [
        (
            project_id, each.feedback_id, each.received_at, each.given_at, each.subject, each.name,
            each.verdict.value, _value(each), each.subject != "criterion",
            each.task_id, each.source,
        )
        for _, each in sorted(by_id.items())
    ]  # fmt: skip
    inserted = insert_rows(
        connection, feedback, _COLUMNS, rows, returning=(feedback.c.feedback_id,)
    )
    new = [by_id[row.feedback_id] for row in inserted]
    return sorted(new, key=lambda each: (each.received_at, each.feedback_id))


def _value(given: GivenFeedback) -> float:
    if given.verdict is Verdict.NEUTRAL:
        return 0.0
    return NAMED_VALUE if given.subject == "criterion" else 1.0


def feedback_on(connection: Connection, project_id: int, subject: Subject) -> list[Row[Any]]:
    """Return all feedback of a project on subjects of a kind, in the order of its receipt."""
    query = (
        select(feedback)
        .where(feedback.c.project_id == project_id, feedback.c.subject == subject)
        .order_by(feedback.c.received_at, feedback.c.feedback_id)
    )
    return list(connection.execute(query))


def forget_feedback(connection: Connection, project_id: int, subject: Subject, name: str) -> None:
    """Erase the feedback on one thing that is erased itself."""
    connection.execute(
        delete(feedback).where(
            feedback.c.project_id == project_id,
            feedback.c.subject == subject,
            feedback.c.name == name,
        )
    )


_AT_ONCE: Final = 500


def is_any_waiting(connection: Connection, project_ids: Iterable[int]) -> bool:
    """Return whether feedback of one of the projects waits for its subject."""
    query = select(feedback.c.id).where(
        feedback.c.project_id.in_(sorted(project_ids)), feedback.c.is_waiting
    )
    return connection.execute(query.limit(1)).first() is not None


def waiting_feedback(
    connection: Connection, project_id: int, subject: Subject, names: Iterable[str]
) -> list[Row[Any]]:
    """Return the feedback that waits for one of the names, in the order of its receipt."""
    wanted = sorted(set(names))
    found: list[Row[Any]] = []
    for start in range(0, len(wanted), _AT_ONCE):
        query = select(feedback).where(
            feedback.c.project_id == project_id,
            feedback.c.is_waiting,
            feedback.c.subject == subject,
            feedback.c.name.in_(wanted[start : start + _AT_ONCE]),
        )
        found += connection.execute(query).all()
    return sorted(found, key=lambda row: (row.received_at, row.feedback_id))


def note_counted(connection: Connection, rows: Sequence[Row[Any]]) -> None:
    """Note that feedback does not wait any more."""
    if rows:
        connection.execute(
            update(feedback).where(feedback.c.id == bindparam("row")).values(is_waiting=False),
            [{"row": row.id} for row in rows],
        )


def wait_for(
    connection: Connection, project_id: int, subject: Subject, names: Collection[str]
) -> None:
    """Mark feedback whose subject is no longer on record as waiting."""
    wanted = sorted(names)
    for start in range(0, len(wanted), _AT_ONCE):
        connection.execute(
            update(feedback)
            .where(
                feedback.c.project_id == project_id,
                feedback.c.subject == subject,
                feedback.c.name.in_(wanted[start : start + _AT_ONCE]),
            )
            .values(is_waiting=True)
        )


def wait_again(connection: Connection, project_id: int) -> None:
    """Mark all feedback on patterns as waiting, and recount that on criteria, for a rebuild."""
    own = feedback.c.project_id == project_id
    connection.execute(
        update(feedback).where(own, feedback.c.subject == "pattern").values(is_waiting=True)
    )
    connection.execute(
        update(feedback)
        .where(own, feedback.c.subject == "criterion", feedback.c.value != 0)
        .values(value=NAMED_VALUE)
    )


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
