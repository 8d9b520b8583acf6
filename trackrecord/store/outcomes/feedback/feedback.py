"""Feedback on one pattern, criterion or memory alone, as it was received."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    or_,
    select,
    true,
    update,
)

from trackrecord.learning.criteria.weights import NAMED_VALUE
from trackrecord.learning.numbers.speaker_names import speaker_named
from trackrecord.learning.outcomes.scoring import Verdict
from trackrecord.wire.feedback import FeedbackBody, Subject

from ...database.parts import in_parts
from ...database.upsert import insert_rows
from ...ledger.ledger import LedgerEntry
from ...ledger.receipts import FEEDBACK
from ...ledger.subjects import CRITERION, PATTERN, told_row
from ...ledger.tables import items
from ..tables import feedback


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
            each.verdict.value, _value(each), each.subject == "memory",
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


def forget_feedback(connection: Connection, project_id: int, subject: Subject, name: str) -> None:
    """Erase the feedback on one thing that is erased itself."""
    connection.execute(
        delete(feedback).where(
            feedback.c.project_id == project_id,
            feedback.c.subject == subject,
            feedback.c.name == name,
        )
    )


_COUNTED: Final = {"pattern": PATTERN, "criterion": CRITERION}


def waiting_feedback(
    connection: Connection, project_id: int, subject: Subject, names: Iterable[str]
) -> list[Row[Any]]:
    """Return the feedback that waits for one of the names, in the order of its receipt."""
    found: list[Row[Any]] = []
    for some in in_parts(sorted(set(names))):
        query = select(feedback).where(
            feedback.c.project_id == project_id,
            feedback.c.is_waiting,
            feedback.c.subject == subject,
            feedback.c.name.in_(some),
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
    for some in in_parts(sorted(names)):
        connection.execute(
            update(feedback)
            .where(
                feedback.c.project_id == project_id,
                feedback.c.subject == subject,
                feedback.c.name.in_(some),
            )
            .values(is_waiting=True)
        )


def feedback_entries(
    connection: Connection, project_id: int, feedback_ids: Collection[str] | None = None
) -> Iterator[LedgerEntry]:
    """Yield what feedback on patterns and criteria adds to the ledger.

    Args:
        connection: within a writing transaction.
        project_id: whose feedback.
        feedback_ids: which of it; all where none are given.
    """
    for where in _named(feedback_ids):
        query = select(feedback).where(
            feedback.c.project_id == project_id, feedback.c.subject.in_(_COUNTED), where
        )
        for row in connection.execute(query):
            subject = _COUNTED[row.subject]
            said = (subject, told_row(subject, row.name, Verdict(row.verdict)))
            speaker = speaker_named(row.source)
            yield LedgerEntry(project_id, row.given_at, FEEDBACK, row.id, speaker, [said])


def _named(feedback_ids: Collection[str] | None) -> Iterator[ColumnElement[bool]]:
    if feedback_ids is None:
        yield true()
        return
    for some in in_parts(sorted(feedback_ids)):
        yield feedback.c.feedback_id.in_(some)


# Whether no outcome names the pattern yet: else nobody sees it.
_WAITS: Final = case(
    (
        feedback.c.subject == "pattern",
        ~exists().where(
            items.c.project_id == feedback.c.project_id,
            items.c.subject == PATTERN,
            items.c.name == feedback.c.name,
            items.c.label != "",
        ),
    ),
    else_=feedback.c.is_waiting,
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
    query = query.order_by(first, table.feedback_id).limit(limit).add_columns(_WAITS.label("waits"))
    return [(_given(row), row.waits) for row in connection.execute(query)]


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
        query = query.where(_WAITS)
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
