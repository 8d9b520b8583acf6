"""Reading single pieces of feedback to criteria: by criterion, and by task."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, and_, collate, literal, or_, select

from ..database.engine import dialect_of
from ..ledger.read import number_of
from ..ledger.receipts import OUTCOME, naming, unpack
from ..ledger.subjects import CRITERION, verdict_in
from ..ledger.tables import receipts
from ..outcomes.entries import OUTCOME_IS_CURRENT
from ..outcomes.tables import feedback, outcomes

FEEDBACK_SHOWN: Final = 10
_STREAMED: Final = 50


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
    found = _of_outcomes(connection, project_id, criterion, page, is_default=criterion in defaults)
    found += _alone(connection, project_id, criterion, page)
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
        """Return the query for its rows from this part on, in their order."""
        ordered = collate(own_id, self.code_points)
        if self.after is not None:
            moment, was_alone, last = self.after
            beyond = received_at < moment
            if is_alone and not was_alone:
                beyond = received_at <= moment
            elif is_alone == was_alone:
                beyond = or_(beyond, and_(received_at == moment, ordered > last))
            query = query.where(beyond)
        return query.order_by(received_at.desc(), ordered)


def _newest_first(each: Feedback) -> tuple[float, bool, str, str]:
    place = each.place
    return (-place.received_at, place.is_alone, place.id, each.criterion)


def _of_outcomes(
    connection: Connection, project_id: int, criterion: str, page: "_Page", *, is_default: bool
) -> list[Feedback]:
    item = number_of(connection, project_id, CRITERION, criterion)
    if item is None:
        return []
    of, receipt = outcomes.c, receipts.c
    query: Select[Any] = (
        select(of.outcome_id, of.task_id, of.received_at, of.ended_at, receipt.rows)
        .join(receipts, and_(receipt.ended_at == of.ended_at, receipt.number == of.id))
        .where(
            of.project_id == project_id,
            receipt.project_id == project_id,
            receipt.kind == OUTCOME,
            naming(connection, [item]),
            OUTCOME_IS_CURRENT,
        )
    )
    if not is_default:
        # Those of a million are found in an index.
        query = query.where(of.names_criteria)
    query = page.of(query, of.received_at, of.outcome_id).execution_options(yield_per=_STREAMED)
    with connection.execute(query) as rows:
        told = (
            Feedback(
                criterion, row.outcome_id, row.task_id, row.received_at, row.ended_at,
                verdict_in(cell), float(value),
            )
            for row in rows
            for named, cell, _, value, _ in unpack(row.rows)[1]
            if named == item
        )  # fmt: skip
        return list(islice(told, page.limit))


def _alone(connection: Connection, project_id: int, criterion: str, page: _Page) -> list[Feedback]:
    given = feedback.c
    query: Select[Any] = select(
        given.name, literal(None), given.task_id, given.received_at, given.given_at, given.verdict,
        given.value, given.feedback_id,
    ).where(
        given.project_id == project_id, given.subject == "criterion", given.name == criterion
    )  # fmt: skip
    query = page.of(query, given.received_at, given.feedback_id, is_alone=True)
    return [Feedback(*row) for row in connection.execute(query.limit(page.limit))]
