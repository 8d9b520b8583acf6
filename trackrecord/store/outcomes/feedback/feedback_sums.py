"""The last feedback on patterns and criteria."""

from typing import Any

from sqlalchemy import ColumnElement, func, select

from trackrecord.learning.outcomes.scoring import Verdict
from trackrecord.wire.feedback import Subject

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
