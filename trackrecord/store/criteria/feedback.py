"""Reading single pieces of feedback to criteria: by criterion, and by task."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, case, select

from trackrecord.learning.criteria.weights import CriteriaRules
from trackrecord.learning.outcomes.scoring import Verdict

from ..outcomes.standing import outcome_stood
from ..outcomes.tables import outcomes
from .tables import criteria, criterion_feedback

FEEDBACK_SHOWN = CriteriaRules().feedback_shown


@dataclass(frozen=True)
class Feedback:
    """What one outcome said about one criterion.

    Attributes:
        criterion: its name.
        outcome_id: whose feedback it is.
        task_id: which task that outcome is of.
        received_at: seconds since the epoch.
        ended_at: when the task ended.
        verdict: helpful, neutral or harmful.
        value: the raw value; that of neutral feedback is 0.
    """

    criterion: str
    outcome_id: str
    task_id: str
    received_at: float
    ended_at: float
    verdict: str
    value: float


def feedback_of_criterion(
    connection: Connection,
    project_id: int,
    criterion: str,
    defaults: Iterable[str],
    *,
    at: float | None = None,
    limit: int = FEEDBACK_SHOWN,
) -> list[Feedback]:
    """The newest feedback to a criterion, newest first.

    Args:
        connection: a reading transaction.
        project_id: whose feedback.
        criterion: its name.
        defaults: the default criteria.
        at: a past moment to answer for.
        limit: how many.
    """
    found = _listed(connection, project_id, criterion, at, limit)
    if criterion in defaults:
        found += _unlisted(connection, project_id, [criterion], None, at, limit)
    return sorted(found, key=_newest_first)[:limit]


def feedback_of_task(
    connection: Connection,
    project_id: int,
    task_id: str,
    defaults: Iterable[str],
    *,
    at: float | None = None,
    limit: int = 1000,
) -> list[Feedback]:
    """What the outcomes of one task said about criteria, newest first.

    The arguments are those of `feedback_of_criterion`.
    """
    of_task = outcomes.c.task_id == task_id
    found = _listed_of_task(connection, project_id, task_id, at, limit)
    found += _unlisted(connection, project_id, list(defaults), of_task, at, limit)
    return sorted(found, key=_newest_first)[:limit]


def _newest_first(each: Feedback) -> tuple[float, str, str]:
    return (-each.received_at, each.outcome_id, each.criterion)


_OUTCOME = (
    outcomes.c.outcome_id,
    outcomes.c.task_id,
    outcomes.c.received_at,
    outcomes.c.ended_at,
)


_SEEN = criterion_feedback.c
_LISTED = select(criteria.c.name, *_OUTCOME, _SEEN.verdict, _SEEN.value)


def _listed(
    connection: Connection, project_id: int, criterion: str, at: float | None, limit: int
) -> list[Feedback]:
    query = (
        _LISTED.select_from(criterion_feedback)
        .join(criteria, criteria.c.id == _SEEN.criterion_id)
        .join(outcomes, outcomes.c.id == _SEEN.outcome)
        .where(
            criteria.c.project_id == project_id,
            criteria.c.name == criterion,
            outcome_stood(at),
        )
    )
    return _read(connection, _newest(query, _SEEN.received_at, at, limit))


def _listed_of_task(
    connection: Connection, project_id: int, task_id: str, at: float | None, limit: int
) -> list[Feedback]:
    """By the key of the feedback: each criterion of the project for each outcome of the task."""
    of_key = and_(
        _SEEN.criterion_id == criteria.c.id,
        _SEEN.received_at == outcomes.c.received_at,
        _SEEN.outcome == outcomes.c.id,
    )
    query = (
        _LISTED.select_from(outcomes)
        .join(criteria, criteria.c.project_id == outcomes.c.project_id)
        .join(criterion_feedback, of_key)
        .where(
            outcomes.c.project_id == project_id,
            outcomes.c.task_id == task_id,
            outcomes.c.names_criteria,
            outcome_stood(at),
        )
    )
    return _read(connection, _newest(query, outcomes.c.received_at, at, limit))


def _read(connection: Connection, query: Select[Any]) -> list[Feedback]:
    return [Feedback(*row) for row in connection.execute(query)]


def _unlisted(
    connection: Connection,
    project_id: int,
    names: list[str],
    where: ColumnElement[bool] | None,
    at: float | None,
    limit: int,
) -> list[Feedback]:
    """The own verdicts of outcomes that name no criterion, as feedback to each of these."""
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
        outcome_stood(at),
    )
    if where is not None:
        query = query.where(where)
    rows = connection.execute(_newest(query, outcomes.c.received_at, at, limit)).all()
    return [Feedback(name, *row) for row in rows for name in names]


def _newest(
    query: Select[Any], received_at: ColumnElement[Any], at: float | None, limit: int
) -> Select[Any]:
    if at is not None:
        query = query.where(received_at <= at)
    return query.order_by(received_at.desc()).limit(limit)
