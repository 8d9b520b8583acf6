"""Changes of state, written down once each with the numbers of the moment.

The state itself is derived from the sums whenever it is read; what is kept here is history.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, bindparam, insert, select, update

from trackrecord.learning.numbers.decay import DecayBasis
from trackrecord.learning.numbers.speakers import SpeakerCounts
from trackrecord.learning.patterns.antipatterns import is_inverted
from trackrecord.learning.patterns.evidence import Evidence, heard
from trackrecord.learning.patterns.maturity import Maturity, maturity_of
from trackrecord.learning.rules_bundle import Rules

from .speakers import speakers_of_patterns
from .tables import pattern_transitions, patterns


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
        helpful: outcomes that it helped, at that moment.
        neutral: outcomes without effect.
        harmful: outcomes that it harmed.
    """

    slug: str
    content: str
    aspect: str
    before: str | None
    after: str
    at: float
    helpful: int
    neutral: int
    harmful: int


def recent_transitions(
    connection: Connection, project_id: int, *, since: float, until: float
) -> list[RecentTransition]:
    """Return the changes of state after one moment and up to another one, the oldest first."""
    columns = pattern_transitions.c
    query = (
        select(
            patterns.c.slug, patterns.c.content, columns.aspect, columns.before, columns.after,
            columns.at, columns.helpful, columns.neutral, columns.harmful,
        )
        .join(patterns, patterns.c.id == columns.pattern_id)
        .where(patterns.c.project_id == project_id, columns.at > since, columns.at <= until)
        .order_by(columns.at, columns.id)
    )  # fmt: skip
    return [RecentTransition(*row) for row in connection.execute(query)]


MATURITY = "maturity"
INVERSION = "inversion"
INVERTED = "inverted"
LIFTED = "lifted"


@dataclass(frozen=True)
class Transition:
    """One change of state of one pattern.

    Attributes:
        pattern_id: the pattern's row.
        slug: its identity in its project.
        aspect: "maturity" or "inversion".
        before: the state it left, None for its first one.
        after: the state it is in now; "inverted" or "lifted" for an inversion.
        at: seconds since the epoch.
        evidence: the numbers of the moment.
    """

    pattern_id: int
    slug: str
    aspect: str
    before: str | None
    after: str
    at: float
    evidence: Evidence


def evidence_of(
    row: Row[Any],
    rules: Rules,
    basis: DecayBasis,
    at: float,
    speakers: Sequence[SpeakerCounts] = (),
) -> Evidence:
    """Return the evidence in a row of the patterns table, as of a moment not before its outcomes.

    Args:
        row: the pattern's row.
        rules: how much one source counts for.
        basis: what its sums are relative to.
        at: the moment.
        speakers: the counts of each speaker.
    """
    evidence = Evidence(
        helpful=row.helpful,
        neutral=row.neutral,
        harmful=row.harmful,
        succeeded=row.succeeded,
        feedback=row.feedback,
        helpful_feedback=row.helpful_feedback,
        decayed_helpful=basis.value(row.helpful_sum, at),
        decayed_harmful=basis.value(row.harmful_sum, at),
    )
    return heard(rules.caps, evidence, speakers)


def held_evidence(
    connection: Connection, row: Row[Any], rules: Rules, basis: DecayBasis, at: float
) -> Evidence:
    """Return the evidence on one pattern, with that of each speaker."""
    speakers = speakers_of_patterns(connection, {row.project_id: basis}, at, [row.id])
    return evidence_of(row, rules, basis, at, speakers.get(row.id, ()))


def pattern_state(row: Row[Any], rules: Rules, evidence: Evidence) -> Maturity:
    """Return the state of a row of the patterns table: decided by hand, else by its evidence."""
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
    evidence = held_evidence(connection, row, rules, basis, now)
    after = pattern_state(row, rules, evidence)
    change = Transition(row.id, row.slug, MATURITY, before.value, after.value, now, evidence)
    connection.execute(insert(pattern_transitions), {**_as_row(change), "decision_id": decision_id})
    connection.execute(
        update(patterns).where(patterns.c.id == row.id).values(reported_maturity=after.value)
    )
    return change


def record_transitions(
    connection: Connection,
    rows: Iterable[Row[Any]],
    rules: Rules,
    *,
    bases: Mapping[int, DecayBasis],
    now: float,
) -> tuple[Transition, ...]:
    """Write down each change since a pattern's last recorded state.

    Args:
        connection: within the transaction that changed the sums.
        rows: rows of the patterns table, locked by that transaction.
        rules: what decides a state.
        bases: what each project's sums are relative to.
        now: the moment of the change.
    """
    rows = list(rows)
    speakers = speakers_of_patterns(connection, bases, now, [row.id for row in rows])
    found = [
        change
        for row in rows
        for change in _changes(
            row,
            rules,
            evidence_of(row, rules, bases[row.project_id], now, speakers.get(row.id, ())),
            now,
        )
    ]
    if not found:
        return ()
    connection.execute(insert(pattern_transitions), [_as_row(change) for change in found])
    for aspect, column in ((MATURITY, "reported_maturity"), (INVERSION, "reported_inverted")):
        values = [
            {"key": change.pattern_id, "now": change.after == INVERTED}
            if aspect == INVERSION
            else {"key": change.pattern_id, "now": change.after}
            for change in found
            if change.aspect == aspect
        ]
        if values:
            statement = update(patterns).where(patterns.c.id == bindparam("key"))
            connection.execute(statement.values({column: bindparam("now")}), values)
    return tuple(found)


def _changes(row: Row[Any], rules: Rules, evidence: Evidence, now: float) -> Iterator[Transition]:
    state = pattern_state(row, rules, evidence)
    if state != row.reported_maturity:
        yield Transition(
            row.id, row.slug, MATURITY, row.reported_maturity, state.value, now, evidence
        )
    inverted = is_inverted(rules.antipatterns, evidence)
    if inverted != row.reported_inverted:
        before, after = (LIFTED, INVERTED) if inverted else (INVERTED, LIFTED)
        yield Transition(row.id, row.slug, INVERSION, before, after, now, evidence)


def _as_row(change: Transition) -> dict[str, Any]:
    row = transition_row(change.at, change.aspect, change.before, change.after, change.evidence)
    return row | {"pattern_id": change.pattern_id}


def transition_row(
    at: float, aspect: str, before: str | None, after: str, evidence: Evidence
) -> dict[str, Any]:
    """Return a change of state as it is stored, but for its pattern; see `Transition`."""
    numbers = ("helpful", "neutral", "harmful", "decayed_helpful", "decayed_harmful")
    counts = {name: getattr(evidence, name) for name in numbers}
    return {"at": at, "aspect": aspect, "before": before, "after": after, **counts}
