"""Decisions and tags by hand in the store: who decided what about a pattern, when and why."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, delete, exists, func, insert, select, update

from trackrecord.errors import UnknownId
from trackrecord.learning.patterns.decisions import Decision, DecisionAction, state_held
from trackrecord.learning.patterns.tags import changed_tags
from trackrecord.learning.rules_bundle import Rules

from ..database.leases import for_update
from ..database.upsert import insert_rows
from ..ledger.read import own_items
from ..ledger.subjects import PATTERN
from ..ledger.tables import items, totals
from ..outcomes.projects import note_change
from ..outcomes.recorded_rules import hold_bases
from .evidence import held_evidence
from .tables import pattern_decisions, pattern_tags, pattern_transitions
from .transitions import Transition, pattern_state, record_decision


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
    evidence = held_evidence(connection, project_id, row.id, rules, bases.patterns, now)
    state = pattern_state(row, rules, evidence)
    held_in = state_held(action, state, slug)
    decision_id = connection.execute(
        insert(pattern_decisions)
        .values(pattern_id=row.id, at=now, action=action.value, actor=actor, reason=reason)
        .returning(pattern_decisions.c.id)
    ).scalar_one()
    after = connection.execute(
        update(items)
        .where(items.c.id == row.id)
        .values(decided_maturity=held_in.value if held_in else None)
        .returning(*items.c)
    ).one()
    change = record_decision(
        connection, after, rules, bases.patterns, before=state, decision_id=decision_id, now=now
    )
    note_change(connection, project_id, now)
    return change


def are_known(project_id: int | None) -> ColumnElement[bool]:
    """Return whether an item is a pattern that an outcome names, or that was decided upon.

    Where all that touched a pattern was replaced, nothing is left of it but a decision; and where
    no outcome has named it yet, there is only feedback.

    Args:
        project_id: of one project; None for all.
    """
    counts = exists().where(totals.c.item == items.c.id)
    is_named = own_items(project_id, PATTERN) & (items.c.label != "")
    return is_named & (counts | items.c.decided_maturity.is_not(None))


def forget_patterns(connection: Connection, rows: Sequence[int]) -> None:
    """Forget how patterns were named, what was decided about them, and their history."""
    for table in (pattern_transitions, pattern_decisions, pattern_tags):
        connection.execute(delete(table).where(table.c.pattern_id.in_(rows)))
    connection.execute(
        update(items)
        .where(items.c.id.in_(rows))
        .values(
            kind="",
            label="",
            reported_maturity=None,
            reported_inverted=False,
            decided_maturity=None,
        )
    )


def held_pattern(connection: Connection, project_id: int, slug: str) -> Row[Any]:
    """Return a pattern's row, held until the transaction ends.

    Raises:
        UnknownId: there is no such pattern in the project.
    """
    query = select(items).where(are_known(project_id), items.c.name == slug)
    row = connection.execute(for_update(connection, query, items)).one_or_none()
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


_GIVEN = (pattern_tags.c.pattern_id, pattern_tags.c.tag, pattern_tags.c.added_at)


def change_tags(
    connection: Connection,
    project_id: int,
    slug: str,
    *,
    add: Iterable[str],
    remove: Iterable[str],
    now: float,
) -> tuple[frozenset[str], frozenset[str]]:
    """Change a pattern's tags; return those before and those after.

    Args:
        connection: within a writing transaction.
        project_id: whose pattern.
        slug: which one.
        add: checked tags that it gets; those that it has already change nothing.
        remove: tags that it loses; those that it does not have change nothing.
        now: seconds since the epoch.

    Raises:
        UnknownId: there is no such pattern in the project.
        InvalidTag: a tag is to be added and removed, or there are too many.
    """
    # First, as an intake does: a rebuild, which drops patterns that nobody has tagged, waits.
    hold_bases(connection, project_id)
    row = held_pattern(connection, project_id, slug)
    of_pattern = pattern_tags.c.pattern_id == row.id
    before = frozenset(tags_of(connection, of_pattern).get(row.id, ()))
    after = changed_tags(before, add, remove)
    if after == before:
        return before, after
    added = [(row.id, tag, now) for tag in sorted(after - before)]
    insert_rows(connection, pattern_tags, _GIVEN, added)
    connection.execute(
        update(pattern_tags)
        .where(
            of_pattern, pattern_tags.c.tag.in_(before - after), pattern_tags.c.removed_at.is_(None)
        )
        .values(removed_at=now)
    )
    note_change(connection, project_id, now)
    return before, after


def tags_of(connection: Connection, where: ColumnElement[bool]) -> Mapping[int, tuple[str, ...]]:
    """Return the tags of patterns in alphabetical order, by row; those without any are missing.

    Args:
        connection: a reading transaction.
        where: which patterns.
    """
    told = pattern_tags.c
    query = (
        select(told.pattern_id, told.tag)
        .join(items, items.c.id == told.pattern_id)
        .where(where, told.removed_at.is_(None))
    )
    found: defaultdict[int, list[str]] = defaultdict(list)
    for row in connection.execute(query):
        found[row.pattern_id].append(row.tag)
    return {pattern_id: tuple(sorted(tags)) for pattern_id, tags in found.items()}
