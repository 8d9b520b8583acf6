"""Feedback that waits for its subject.

What is reported first may arrive last.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

from sqlalchemy import Connection, Row, bindparam, select, update

from trackrecord.learning.criteria.weights import NAMED_VALUE
from trackrecord.wire.feedback import Subject

from ..tables import feedback

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
