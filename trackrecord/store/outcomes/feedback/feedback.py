"""Feedback on one pattern, criterion or memory alone, as it was received."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Row, delete, select

from trackrecord.learning.criteria.weights import NAMED_VALUE
from trackrecord.learning.outcomes.scoring import Verdict
from trackrecord.wire.feedback import FeedbackBody, Subject

from ...database.bulk_insert import insert_rows
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
