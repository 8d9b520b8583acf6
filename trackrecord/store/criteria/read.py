"""Reading criteria: their evidence now or at a past moment."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, case, func, literal, select

from trackrecord.learning.criteria.weights import (
    CriteriaRules,
    CriterionEvidence,
    CriterionStanding,
    criterion_standing,
)
from trackrecord.learning.numbers.decay import DecayBasis
from trackrecord.learning.outcomes.scoring import Verdict

from ..database.decay_in_sql import weight_at
from ..outcomes.as_of import current_as_of, outcome_current_as_of
from ..outcomes.decay_basis import read_bases
from ..outcomes.feedback.feedback_sums import FeedbackSums, feedback_by_then
from ..outcomes.tables import outcomes
from .tables import criteria, criterion_feedback


def read_criteria(
    connection: Connection,
    project_id: int,
    rules: CriteriaRules,
    *,
    now: float,
    at: float | None = None,
    name: str | None = None,
) -> list[CriterionStanding]:
    """Return a project's criteria by name.

    Args:
        connection: a reading transaction.
        project_id: whose criteria.
        rules: what decides.
        now: the present, seconds since the epoch.
        at: a past moment to answer for: decay is computed for it, and nothing that was received
            later counts.
        name: only this criterion.
    """
    bases = read_bases(connection, project_id)
    if bases is None:
        return []
    basis = bases.criteria
    found = (
        _present(connection, project_id, basis, now, name)
        if at is None
        else _past(connection, project_id, basis, rules.defaults, at=at, name=name)
    )
    return [criterion_standing(rules, each, found[each]) for each in sorted(found)]


def _present(
    connection: Connection, project_id: int, basis: DecayBasis, now: float, name: str | None
) -> dict[str, CriterionEvidence]:
    # Where all feedback was replaced, nothing is left of a criterion.
    is_known = criteria.c.helpful + criteria.c.neutral + criteria.c.harmful > 0
    query = select(criteria).where(criteria.c.project_id == project_id, is_known)
    if name is not None:
        query = query.where(criteria.c.name == name)
    return {
        row.name: CriterionEvidence(
            helpful=row.helpful,
            neutral=row.neutral,
            harmful=row.harmful,
            decayed_helpful=basis.value(row.helpful_sum, now),
            decayed_harmful=basis.value(row.harmful_sum, now),
            last_validated=row.last_validated,
        )
        for row in connection.execute(query)
    }


def _past(
    connection: Connection,
    project_id: int,
    basis: DecayBasis,
    defaults: Iterable[str],
    *,
    at: float,
    name: str | None,
) -> dict[str, CriterionEvidence]:
    """Return what was received by a moment: listed feedback, and own verdicts of other outcomes."""
    found = _listed(connection, project_id, basis, at, name)
    told = feedback_by_then(
        connection, project_id, "criterion", basis.half_life_days, at=at, name=name
    )
    for each, sums in told.items():
        found[each] = _sum(_of_feedback(sums), found.get(each))
    wanted = [each for each in defaults if name in (None, each)]
    if not wanted:
        return found
    own = _own_verdicts(connection, project_id, basis, at)
    if own is None:
        return found
    return found | {each: _sum(own, found.get(each)) for each in wanted}


def _listed(
    connection: Connection, project_id: int, basis: DecayBasis, at: float, name: str | None
) -> dict[str, CriterionEvidence]:
    seen = criterion_feedback.c
    query = (
        select(
            criteria.c.name, *_sums(seen.verdict, seen.value, seen.ended_at, basis, at, seen.times)
        )
        .join(criteria, criteria.c.id == seen.criterion_id)
        .where(
            criteria.c.project_id == project_id,
            seen.received_at <= at,
            current_as_of(seen.replaced_at, at),
        )
        .group_by(criteria.c.name)
    )
    if name is not None:
        query = query.where(criteria.c.name == name)
    return {row.name: _evidence(row) for row in connection.execute(query)}


def _own_verdicts(
    connection: Connection, project_id: int, basis: DecayBasis, at: float
) -> CriterionEvidence | None:
    """Return the sums of outcomes that name no criterion, for default ones; None without any."""
    seen = outcomes.c
    value = case((seen.verdict == Verdict.HELPFUL.value, seen.raw_score), else_=1 - seen.raw_score)
    query: Select[Any] = select(
        *_sums(seen.verdict, value, seen.ended_at, basis, at, literal(1))
    ).where(
        seen.project_id == project_id,
        seen.received_at <= at,
        ~seen.names_criteria,
        seen.success.is_not(None),
        outcome_current_as_of(at),
    )
    row = connection.execute(query).one()
    return _evidence(row) if row.total else None


def _sums(
    verdict: ColumnElement[Any],
    value: ColumnElement[Any],
    ended_at: ColumnElement[Any],
    basis: DecayBasis,
    at: float,
    times: ColumnElement[Any],
) -> tuple[ColumnElement[Any], ...]:
    helpful = verdict == Verdict.HELPFUL.value
    harmful = verdict == Verdict.HARMFUL.value
    weighed = value * weight_at(ended_at, at, basis.half_life_days)
    return (
        func.sum(times).label("total"),
        func.sum(case((helpful, times), else_=0)).label("helpful"),
        func.sum(case((harmful, times), else_=0)).label("harmful"),
        func.sum(case((helpful, weighed), else_=0.0)).label("decayed_helpful"),
        func.sum(case((harmful, weighed), else_=0.0)).label("decayed_harmful"),
        func.max(ended_at).label("last"),
    )


def _evidence(row: Row[Any]) -> CriterionEvidence:
    helpful, harmful = int(row.helpful or 0), int(row.harmful or 0)
    return CriterionEvidence(
        helpful=helpful,
        neutral=int(row.total) - helpful - harmful,
        harmful=harmful,
        decayed_helpful=float(row.decayed_helpful or 0.0),
        decayed_harmful=float(row.decayed_harmful or 0.0),
        last_validated=row.last,
    )


def _of_feedback(told: FeedbackSums) -> CriterionEvidence:
    return CriterionEvidence(
        helpful=told.helpful,
        neutral=told.neutral,
        harmful=told.harmful,
        decayed_helpful=told.decayed_helpful,
        decayed_harmful=told.decayed_harmful,
        last_validated=told.last,
    )


def _sum(one: CriterionEvidence, other: CriterionEvidence | None) -> CriterionEvidence:
    if other is None:
        return one
    moments = [each.last_validated for each in (one, other) if each.last_validated is not None]
    return CriterionEvidence(
        helpful=one.helpful + other.helpful,
        neutral=one.neutral + other.neutral,
        harmful=one.harmful + other.harmful,
        decayed_helpful=one.decayed_helpful + other.decayed_helpful,
        decayed_harmful=one.decayed_harmful + other.decayed_harmful,
        last_validated=max(moments, default=None),
    )
