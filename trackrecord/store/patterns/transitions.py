"""Changes of state, written down once each with the numbers of the moment.

The state itself is derived from the sums whenever it is read; what is kept here is history. Who
refreshes the rankings of a project has all standings in hand, and notes what has changed since.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final

from sqlalchemy import Connection, Row, insert, select, update

from trackrecord.learning.numbers.decay import Bases, DecayBasis
from trackrecord.learning.patterns.evidence import Evidence
from trackrecord.learning.patterns.maturity import Maturity, is_inverted, maturity_of
from trackrecord.learning.patterns.standing import Standing
from trackrecord.learning.rules_bundle import Rules

from ..database.parts import in_parts
from ..ledger.read import own_items
from ..ledger.subjects import PATTERN
from ..ledger.tables import items
from ..outcomes.projects import project_id_of
from ..outcomes.recorded_rules import hold_bases, read_bases
from .evidence import held_evidence
from .tables import pattern_transitions


@dataclass(frozen=True)
class RecentTransition:
    """One change of state of one pattern.

    Attributes:
        slug: the pattern.
        content: what it says.
        aspect: "maturity" or "inversion".
        before: the state that it left; None for its first one.
        after: the state that it came into; "inverted" or "lifted" for an inversion.
        at: when, seconds since the epoch.
        helpful: outcomes that it helped, at that moment; None where some of them are forgotten.
        neutral: outcomes without effect; likewise.
        harmful: outcomes that it harmed; likewise.
    """

    slug: str
    content: str
    aspect: str
    before: str | None
    after: str
    at: float
    helpful: int | None
    neutral: int | None
    harmful: int | None


def recent_transitions(
    connection: Connection, project_id: int, *, since: float, until: float
) -> list[RecentTransition]:
    """Return the changes of state after one moment and up to another one, the oldest first."""
    columns = pattern_transitions.c
    query = (
        select(
            items.c.name, items.c.label, columns.aspect, columns.before, columns.after,
            columns.at, columns.helpful, columns.neutral, columns.harmful,
        )
        .join(items, items.c.id == columns.pattern_id)
        .where(items.c.project_id == project_id, columns.at > since, columns.at <= until)
        .order_by(columns.at, columns.id)
    )  # fmt: skip
    return [RecentTransition(*row) for row in connection.execute(query)]


MATURITY = "maturity"
INVERSION = "inversion"
INVERTED = "inverted"
LIFTED = "lifted"
_NUMBERS: Final = ("helpful", "neutral", "harmful", "decayed_helpful", "decayed_harmful")


@dataclass(frozen=True)
class Transition:
    """One change of state of one pattern.

    Attributes:
        pattern_id: the pattern's row.
        slug: its identity in its project.
        aspect: "maturity" or "inversion".
        before: the state it left, None for its first one.
        after: the state it is in now; "inverted" or "lifted" for an inversion.
        at: seconds since the epoch: when the outcome that brought it ended, or when it was seen.
        evidence: its numbers when it was seen.
    """

    pattern_id: int
    slug: str
    aspect: str
    before: str | None
    after: str
    at: float
    evidence: Evidence


def pattern_state(row: Row[Any], rules: Rules, evidence: Evidence) -> Maturity:
    """Return the state of a pattern: decided by hand, else by its evidence."""
    if row.decided_maturity is not None:
        return Maturity(row.decided_maturity)
    return maturity_of(rules.maturity, evidence)


def record_decision(
    connection: Connection,
    row: Row[Any],
    rules: Rules,
    basis: DecayBasis,
    *,
    before: Maturity,
    decision_id: int,
    now: float,
) -> Transition:
    """Store the change by a decision by hand, once, even where the state stays the same.

    Args:
        connection: within the transaction of the decision.
        row: the pattern's row as the decision left it.
        rules: what decides a state without a decision.
        basis: what its sums are relative to.
        before: where the pattern stood.
        decision_id: the decision's row.
        now: the moment of the decision.
    """
    evidence = held_evidence(connection, row.project_id, row.id, rules, basis, now)
    after = pattern_state(row, rules, evidence)
    change = Transition(row.id, row.name, MATURITY, before.value, after.value, now, evidence)
    connection.execute(insert(pattern_transitions), {**_as_row(change), "decision_id": decision_id})
    connection.execute(
        update(items).where(items.c.id == row.id).values(reported_maturity=after.value)
    )
    return change


@dataclass(frozen=True)
class UnnotedStates:
    """Changes of state of a project's patterns that are not on record yet.

    Attributes:
        project_id: the project.
        bases: what its sums were relative to; others since then: what was counted may be forgotten.
        changes: in the order of the patterns' slugs.
    """

    project_id: int
    bases: Bases | None
    changes: tuple[Transition, ...]


def unnoted_states(
    connection: Connection, project: str, standings: Iterable[Standing], rules: Rules, *, now: float
) -> UnnotedStates | None:
    """Return the changes since the state of each pattern that was noted last; None without any.

    Args:
        connection: the reading transaction in which the standings were read, a repeatable one.
        project: whose patterns.
        standings: where they are now.
        rules: what decides a state.
        now: the moment of the standings.
    """
    project_id = project_id_of(connection, project)
    if project_id is None:
        return None
    own = items.c
    query = select(
        own.id, own.name, own.reported_maturity, own.reported_inverted, own.decided_maturity
    ).where(own_items(project_id, PATTERN))
    # Few refreshes find a change.
    bases = cache(partial(read_bases, connection, project_id))
    rows = {row.name: row for row in connection.execute(query)}
    changes = tuple(
        change
        for standing in sorted(standings, key=lambda each: each.facts.slug)
        for change in _changes(rows[standing.facts.slug], rules, standing, bases, now)
    )
    return UnnotedStates(project_id, bases(), changes) if changes else None


def note_states(connection: Connection, unnoted: UnnotedStates) -> tuple[Transition, ...]:
    """Write changes of state down; return those that no other worker was quicker to note.

    Patterns that others are writing are left to the next refresh: nobody waits for a list.

    Args:
        connection: within a writing transaction.
        unnoted: the changes.
    """
    if hold_bases(connection, unnoted.project_id) != unnoted.bases:
        return ()
    alike = defaultdict[tuple[str, str | None, str], list[Transition]](list)
    for change in unnoted.changes:
        alike[change.aspect, change.before, change.after].append(change)
    noted = tuple(
        change
        for some in alike.values()
        for part in in_parts(some)
        for change in _noted(connection, part)
    )
    if noted:
        connection.execute(insert(pattern_transitions), [_as_row(change) for change in noted])
    return noted


def _noted(connection: Connection, alike: Sequence[Transition]) -> Iterator[Transition]:
    """Set the states noted last, where they still are the ones before; return these changes."""
    own, first = items.c, alike[0]
    if first.aspect == MATURITY:
        is_still = own.reported_maturity.is_not_distinct_from(first.before)
        values: dict[str, object] = {"reported_maturity": first.after}
    else:
        is_still = own.reported_inverted != (first.after == INVERTED)
        values = {"reported_inverted": first.after == INVERTED}
    named = own.id.in_([change.pattern_id for change in alike])
    free = select(own.id).where(named, is_still).with_for_update(skip_locked=True)
    held = set(connection.execute(free).scalars())
    connection.execute(update(items).where(own.id.in_(held)).values(values))
    return (change for change in alike if change.pattern_id in held)


def _changes(
    row: Any,  # noqa: ANN401 - a row with what was noted of a pattern
    rules: Rules,
    standing: Standing,
    read: Callable[[], Bases | None],
    now: float,
) -> Iterator[Transition]:
    evidence = standing.evidence
    last = min(standing.facts.last_validated or now, now)
    state = pattern_state(row, rules, evidence)
    if state != row.reported_maturity:
        # Its last outcome brought it there, or only the time that has passed since.
        bases = read()
        had = evidence if bases is None else evidence.grown(bases.patterns.growth(last, now))
        at = last if pattern_state(row, rules, had) is state else now
        yield Transition(
            row.id, row.name, MATURITY, row.reported_maturity, state.value, at, evidence
        )
    inverted = is_inverted(rules.antipatterns, evidence)
    if inverted != row.reported_inverted:
        before, after = (LIFTED, INVERTED) if inverted else (INVERTED, LIFTED)
        yield Transition(row.id, row.name, INVERSION, before, after, last, evidence)


def _as_row(change: Transition) -> dict[str, Any]:
    numbers = {name: getattr(change.evidence, name) for name in _NUMBERS}
    return numbers | {
        "pattern_id": change.pattern_id,
        "at": change.at,
        "aspect": change.aspect,
        "before": change.before,
        "after": change.after,
    }


def blank_numbers(connection: Connection, pattern_ids: Sequence[int]) -> None:
    """Leave out the numbers of changes of state: some of what they counted is forgotten."""
    connection.execute(
        update(pattern_transitions)
        .where(pattern_transitions.c.pattern_id.in_(pattern_ids))
        .values(dict.fromkeys(_NUMBERS))
    )
