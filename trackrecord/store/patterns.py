"""Reading patterns: their evidence now or at a past moment, their examples and their history."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, case, func, select

from ..learning.decay import DAY, DecayBasis
from ..learning.evidence import Evidence
from ..learning.scoring import Verdict
from ..learning.standing import PatternFacts, Standing, standing_of
from .basis import read_basis
from .tables import observations, outcomes, pattern_transitions, patterns
from .transitions import TransitionRules, evidence_of

EXAMPLES_KEPT = 10
# After a thousand half-lives.
_NOTHING_LEFT = -1000.0


@dataclass(frozen=True)
class PatternChange:
    """One recorded change of state, with the numbers of its moment."""

    at: float
    aspect: str
    before: str | None
    after: str
    evidence: Evidence


@dataclass(frozen=True)
class Example:
    """A task that touched a pattern."""

    outcome_id: str
    task_id: str
    ended_at: float
    success: bool
    verdict: str


def read_standings(
    connection: Connection,
    project_id: int,
    rules: TransitionRules,
    *,
    now: float,
    at: float | None = None,
    slug: str | None = None,
) -> list[Standing]:
    """Where a project's patterns stand.

    Args:
        connection: a reading transaction.
        project_id: whose patterns.
        rules: what decides a state.
        now: the present, seconds since the epoch.
        at: a past moment to answer for: decay is computed for it, and nothing that was received
            later counts.
        slug: only this pattern.
    """
    basis = read_basis(connection, project_id)
    if basis is None:
        return []
    facts = patterns.c.project_id == project_id
    if slug is not None:
        facts = and_(facts, patterns.c.slug == slug)
    found = (
        _present(connection, facts, basis, now)
        if at is None
        else _past(connection, facts, basis, at)
    )
    return [standing_of(rules.maturity, rules.antipatterns, *each) for each in found]


def _present(
    connection: Connection, where: ColumnElement[bool], basis: DecayBasis, now: float
) -> Iterator[tuple[PatternFacts, Evidence]]:
    for row in connection.execute(select(patterns).where(where)):
        yield (
            PatternFacts(row.slug, row.kind, row.content, row.last_validated),
            evidence_of(row, basis, now),
        )


def _past(
    connection: Connection, where: ColumnElement[bool], basis: DecayBasis, at: float
) -> Iterator[tuple[PatternFacts, Evidence]]:
    """From the observations themselves: what was received by then, weighed for then."""
    seen = observations.c
    helpful = seen.verdict == Verdict.HELPFUL.value
    harmful = seen.verdict == Verdict.HARMFUL.value
    half_life_s = basis.half_life_days * DAY
    # Never above 0: what was received by then had ended by then. PostgreSQL takes a power that is
    # too small for a float for an error.
    half_lives = (seen.ended_at - at) / half_life_s
    weight = case((half_lives < _NOTHING_LEFT, 0.0), else_=func.power(2.0, half_lives))
    sums = (
        select(
            seen.pattern_id,
            func.count().label("total"),
            func.sum(case((helpful, 1), else_=0)).label("helpful"),
            func.sum(case((harmful, 1), else_=0)).label("harmful"),
            func.sum(case((helpful, weight), else_=0.0)).label("decayed_helpful"),
            func.sum(case((harmful, weight), else_=0.0)).label("decayed_harmful"),
            func.max(case((seen.verdict != Verdict.NEUTRAL.value, seen.ended_at))).label("last"),
        )
        .where(seen.received_at <= at)
        .where(seen.pattern_id.in_(select(patterns.c.id).where(where)))
        .group_by(seen.pattern_id)
        .subquery()
    )
    query = select(patterns.c.slug, patterns.c.kind, patterns.c.content, sums).join(
        sums, sums.c.pattern_id == patterns.c.id
    )
    for row in connection.execute(query):
        yield PatternFacts(row.slug, row.kind, row.content, row.last), _past_evidence(row)


def _past_evidence(row: Row[Any]) -> Evidence:
    return Evidence(
        helpful=int(row.helpful),
        neutral=int(row.total - row.helpful - row.harmful),
        harmful=int(row.harmful),
        decayed_helpful=float(row.decayed_helpful),
        decayed_harmful=float(row.decayed_harmful),
    )


def read_examples(
    connection: Connection, project_id: int, slug: str, *, at: float | None = None
) -> list[Example]:
    """The newest tasks that touched a pattern, newest first."""
    query = (
        select(
            outcomes.c.outcome_id,
            outcomes.c.task_id,
            outcomes.c.ended_at,
            outcomes.c.success,
            outcomes.c.verdict,
        )
        .join(observations, observations.c.outcome == outcomes.c.id)
        .join(patterns, patterns.c.id == observations.c.pattern_id)
        .where(patterns.c.project_id == project_id, patterns.c.slug == slug)
        # By receipt, which is the order of the key: a million observations need no sort.
        .order_by(observations.c.received_at.desc(), observations.c.outcome.desc())
        .limit(EXAMPLES_KEPT)
    )
    if at is not None:
        query = query.where(observations.c.received_at <= at)
    return [Example(*row) for row in connection.execute(query)]


def read_changes(
    connection: Connection, project_id: int, slug: str, *, at: float | None = None
) -> list[PatternChange]:
    """A pattern's recorded changes of state, oldest first."""
    query = (
        select(pattern_transitions)
        .join(patterns, patterns.c.id == pattern_transitions.c.pattern_id)
        .where(patterns.c.project_id == project_id, patterns.c.slug == slug)
        .order_by(pattern_transitions.c.id)
    )
    if at is not None:
        query = query.where(pattern_transitions.c.at <= at)
    return [
        PatternChange(
            row.at,
            row.aspect,
            row.before,
            row.after,
            Evidence(
                row.helpful,
                row.neutral,
                row.harmful,
                row.decayed_helpful,
                row.decayed_harmful,
            ),
        )
        for row in connection.execute(query)
    ]
