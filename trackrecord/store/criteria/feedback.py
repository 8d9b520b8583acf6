"""Reading single pieces of feedback to criteria: by criterion, and by task."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    case,
    collate,
    literal,
    or_,
    select,
)

from trackrecord.learning.outcomes.scoring import Verdict

from ..database.engine import dialect_of
from ..outcomes.as_of import OUTCOME_IS_CURRENT
from ..outcomes.tables import feedback, outcomes
from .tables import criteria, criterion_feedback

FEEDBACK_SHOWN: Final = 10


@dataclass(frozen=True)
class Feedback:
    """The feedback of one outcome, or of feedback on it alone, on one criterion.

    Attributes:
        criterion: its name.
        outcome_id: the outcome that says so; None where it is feedback on the criterion alone.
        task_id: the task, if known.
        received_at: seconds since the epoch.
        ended_at: when the task ended, or when the feedback was given.
        verdict: helpful, neutral or harmful.
        value: the raw value; that of neutral feedback is 0.
        feedback_id: the id of feedback on the criterion alone; None where an outcome says so.
    """

    criterion: str
    outcome_id: str | None
    task_id: str | None
    received_at: float
    ended_at: float
    verdict: str
    value: float
    feedback_id: str | None = None

    @property
    def place(self) -> "CriterionFeedbackPlace":
        """Return the position in the order of feedback to its criterion."""
        if self.outcome_id is not None:
            return CriterionFeedbackPlace(self.received_at, is_alone=False, id=self.outcome_id)
        return CriterionFeedbackPlace(self.received_at, is_alone=True, id=self.feedback_id or "")


class CriterionFeedbackPlace(NamedTuple):
    """A place in the order of feedback to a criterion: newest first, outcomes first of equal ones.

    Attributes:
        received_at: seconds since the epoch.
        is_alone: whether it is feedback on the criterion alone.
        id: of the outcome, or of the feedback; compared by code point.
    """

    received_at: float
    is_alone: bool
    id: str


def feedback_of_criterion(
    connection: Connection,
    project_id: int,
    criterion: str,
    defaults: Iterable[str],
    *,
    limit: int = FEEDBACK_SHOWN,
    after: CriterionFeedbackPlace | None = None,
) -> list[Feedback]:
    """The feedback to a criterion, newest first.

    Args:
        connection: a reading transaction.
        project_id: whose feedback.
        criterion: its name.
        defaults: the default criteria.
        limit: how many.
        after: only what comes after this place.
    """
    page = _Page(dialect_of(connection).code_points, limit, after)
    found = _listed(connection, project_id, criterion, page)
    found += _alone(connection, project_id, criterion, page)
    if criterion in defaults:
        found += _unlisted(connection, project_id, criterion, page)
    return sorted(found, key=_newest_first)[:limit]


@dataclass(frozen=True)
class _Page:
    """The requested part of a list.

    Attributes:
        code_points: the collation that compares by code point.
        limit: how many at most.
        after: only what comes after this place.
    """

    code_points: str
    limit: int
    after: CriterionFeedbackPlace | None = None

    def of(
        self,
        query: Select[Any],
        received_at: ColumnElement[Any],
        own_id: ColumnElement[Any],
        *,
        is_alone: bool = False,
    ) -> Select[Any]:
        """Return the query for its rows of this part, in their order."""
        ordered = collate(own_id, self.code_points)
        if self.after is not None:
            moment, was_alone, last = self.after
            beyond = received_at < moment
            if is_alone and not was_alone:
                beyond = received_at <= moment
            elif is_alone == was_alone:
                beyond = or_(beyond, and_(received_at == moment, ordered > last))
            query = query.where(beyond)
        return query.order_by(received_at.desc(), ordered).limit(self.limit)


def _newest_first(each: Feedback) -> tuple[float, bool, str, str]:
    place = each.place
    return (-place.received_at, place.is_alone, place.id, each.criterion)


_OUTCOME = (
    outcomes.c.outcome_id,
    outcomes.c.task_id,
    outcomes.c.received_at,
    outcomes.c.ended_at,
)


_SEEN = criterion_feedback.c
_LISTED = select(criteria.c.name, *_OUTCOME, _SEEN.verdict, _SEEN.value)


def _listed(connection: Connection, project_id: int, criterion: str, page: _Page) -> list[Feedback]:
    query = (
        _LISTED.select_from(criterion_feedback)
        .join(criteria, criteria.c.id == _SEEN.criterion_id)
        .join(outcomes, outcomes.c.id == _SEEN.outcome)
        .where(
            criteria.c.project_id == project_id,
            criteria.c.name == criterion,
            OUTCOME_IS_CURRENT,
        )
    )
    return _read(connection, page.of(query, _SEEN.received_at, outcomes.c.outcome_id))


def _alone(connection: Connection, project_id: int, criterion: str, page: _Page) -> list[Feedback]:
    given = feedback.c
    query: Select[Any] = select(
        given.name, literal(None), given.task_id, given.received_at, given.given_at, given.verdict,
        given.value, given.feedback_id,
    ).where(
        given.project_id == project_id, given.subject == "criterion", given.name == criterion
    )  # fmt: skip
    return _read(connection, page.of(query, given.received_at, given.feedback_id, is_alone=True))


def _read(connection: Connection, query: Select[Any]) -> list[Feedback]:
    return [Feedback(*row) for row in connection.execute(query)]


def _unlisted(connection: Connection, project_id: int, name: str, page: _Page) -> list[Feedback]:
    """The own verdicts of outcomes that name no criterion, as feedback to this one."""
    verdict = outcomes.c.verdict
    value = case(
        (verdict == Verdict.HELPFUL.value, outcomes.c.raw_score),
        (verdict == Verdict.HARMFUL.value, 1 - outcomes.c.raw_score),
        else_=0.0,
    )
    query: Select[Any] = select(*_OUTCOME, verdict, value).where(
        outcomes.c.project_id == project_id,
        ~outcomes.c.names_criteria,
        outcomes.c.success.is_not(None),
        OUTCOME_IS_CURRENT,
    )
    query = page.of(query, outcomes.c.received_at, outcomes.c.outcome_id)
    rows = connection.execute(query).all()
    return [Feedback(name, *row) for row in rows]
