"""The sums of feedback on patterns and criteria as of a moment."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, case, func, select

from trackrecord.learning.outcomes.scoring import Verdict
from trackrecord.wire.feedback import Subject

from ...database.decay_in_sql import weight_at
from ..tables import feedback


@dataclass(frozen=True)
class FeedbackSums:
    """The sums of feedback on one subject as of a moment.

    Attributes:
        helpful: helpful verdicts, a raw count.
        neutral: neutral ones.
        harmful: harmful ones.
        decayed_helpful: the values of the helpful ones, each weighed by its age.
        decayed_harmful: those of the harmful ones.
        last: when the last one was given.
        last_verdict: when the last one was given that was not neutral.
    """

    helpful: int
    neutral: int
    harmful: int
    decayed_helpful: float
    decayed_harmful: float
    last: float
    last_verdict: float | None

    @property
    def total(self) -> int:
        """All verdicts."""
        return self.helpful + self.neutral + self.harmful


def feedback_by_then(
    connection: Connection,
    project_id: int,
    subject: Subject,
    half_life_days: float,
    *,
    at: float,
    name: str | None = None,
) -> Mapping[str, FeedbackSums]:
    """Return the sums of the feedback received by a moment, by name."""
    given = feedback.c
    helpful = given.verdict == Verdict.HELPFUL.value
    harmful = given.verdict == Verdict.HARMFUL.value
    weighed = given.value * weight_at(given.given_at, at, half_life_days)
    query = (
        select(
            given.name,
            func.sum(case((helpful, 1), else_=0)).label("helpful"),
            func.sum(case((helpful, 0), (harmful, 0), else_=1)).label("neutral"),
            func.sum(case((harmful, 1), else_=0)).label("harmful"),
            func.sum(case((helpful, weighed), else_=0.0)).label("decayed_helpful"),
            func.sum(case((harmful, weighed), else_=0.0)).label("decayed_harmful"),
            func.max(given.given_at).label("last"),
            func.max(case((helpful, given.given_at), (harmful, given.given_at))).label("verdict"),
        )
        .where(given.project_id == project_id, given.subject == subject, given.received_at <= at)
        .group_by(given.name)
    )
    if name is not None:
        query = query.where(given.name == name)
    return {
        row.name: FeedbackSums(
            int(row.helpful), int(row.neutral), int(row.harmful), float(row.decayed_helpful),
            float(row.decayed_harmful), row.last, row.verdict,
        )
        for row in connection.execute(query)
    }  # fmt: skip


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
