"""Decisions by hand in the store: who decided what about a pattern, when and why."""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from trackrecord.errors import UnknownId
from trackrecord.learning.patterns.decisions import Decision, DecisionAction, state_held
from trackrecord.learning.rules_bundle import Rules

from ..database.leases import for_update
from ..outcomes.decay_basis import hold_bases
from ..outcomes.projects import clock_of, next_revision
from ..outcomes.tables import projects
from .tables import pattern_decisions, patterns
from .transitions import Transition, held_evidence, pattern_state, record_decision


def decide(
    connection: Connection,
    project_id: int,
    slug: str,
    action: DecisionAction,
    *,
    actor: str,
    reason: str,
    rules: Rules,
    now: float,
) -> Transition | None:
    """Record a decision by hand; return the change, None when there was nothing to reset.

    Args:
        connection: within a writing transaction.
        project_id: whose pattern.
        slug: which one.
        action: what is decided.
        actor: who decides.
        reason: why.
        rules: what decides a state without it.
        now: seconds since the epoch.

    Raises:
        UnknownId: there is no such pattern in the project.
        DecisionRefused: it is deprecated and was to be promoted.
    """
    # First, as an intake does: no rebuild moves the sums meanwhile.
    bases = hold_bases(connection, project_id)
    row = held_pattern(connection, project_id, slug)
    assert bases is not None  # noqa: S101 - a pattern comes with an outcome, and that with bases
    if action is DecisionAction.RESET and row.decided_maturity is None:
        return None
    evidence = held_evidence(connection, row, rules, bases.patterns, now)
    state = pattern_state(row, rules, evidence)
    held_in = state_held(action, state, slug)
    decision_id = connection.execute(
        insert(pattern_decisions)
        .values(pattern_id=row.id, at=now, action=action.value, actor=actor, reason=reason)
        .returning(pattern_decisions.c.id)
    ).scalar_one()
    after = connection.execute(
        update(patterns)
        .where(patterns.c.id == row.id)
        .values(decided_maturity=held_in.value if held_in else None)
        .returning(*patterns.c)
    ).one()
    change = record_decision(
        connection, after, rules, bases.patterns, before=state, decision_id=decision_id, now=now
    )
    connection.execute(
        update(projects)
        .where(projects.c.id == project_id)
        .values(revision=next_revision(clock_of(now)))
    )
    return change


def held_pattern(connection: Connection, project_id: int, slug: str) -> Row[Any]:
    """Return a pattern's row, held until the transaction ends.

    Raises:
        UnknownId: there is no such pattern in the project.
    """
    query = select(patterns).where(patterns.c.project_id == project_id, patterns.c.slug == slug)
    row = connection.execute(for_update(connection, query, patterns)).one_or_none()
    if row is None:
        message = f"no pattern {slug!r} in this project; `patterns list` shows all"
        raise UnknownId(message)
    return row


def decisions_in_force(
    connection: Connection, pattern_ids: Iterable[int]
) -> Mapping[int, Decision]:
    """The decisions by hand that hold, by pattern.

    Args:
        connection: a reading transaction.
        pattern_ids: which patterns; few, or all of a project.
    """
    made = pattern_decisions.c
    wanted = set(pattern_ids)
    # There are few decisions, and the last one of each pattern counts.
    last = select(func.max(made.id)).group_by(made.pattern_id)
    if len(wanted) == 1:
        last = last.where(made.pattern_id.in_(wanted))
    query = select(pattern_decisions).where(
        made.id.in_(last.scalar_subquery()), made.action != DecisionAction.RESET.value
    )
    return {
        row.pattern_id: Decision(DecisionAction(row.action), row.actor, row.reason, row.at)
        for row in connection.execute(query)
        if row.pattern_id in wanted
    }
