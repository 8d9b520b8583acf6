"""Rewriting the history of patterns from the observations, feedback and decisions on record."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from math import inf
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, and_, delete, func, insert, select, update

from trackrecord.learning.numbers.decay import DecayBasis
from trackrecord.learning.numbers.speaker_names import speaker_named
from trackrecord.learning.outcomes.scoring import Verdict
from trackrecord.learning.patterns.antipatterns import is_inverted
from trackrecord.learning.patterns.decisions import Decision, DecisionAction
from trackrecord.learning.patterns.evidence import Evidence, heard
from trackrecord.learning.patterns.maturity import Maturity, maturity_of
from trackrecord.learning.rules_bundle import Rules

from ..outcomes.tables import feedback
from ..outcomes.verdicts.verdict_sums import VerdictSums, several
from .speakers import SpeakerSums
from .tables import (
    observations,
    pattern_decisions,
    pattern_speakers,
    pattern_tags,
    pattern_transitions,
    patterns,
)
from .transitions import INVERSION, INVERTED, LIFTED, MATURITY, transition_row

_COUNT, _UNCOUNT, _TELL, _DECIDE = range(4)
_AT_ONCE: Final = 500


def observed(connection: Connection, project_id: int) -> dict[int, int]:
    """Return how many observations, replaced ones too, and verdicts by feedback a pattern has."""
    query = (
        select(observations.c.pattern_id, func.count())
        .join(patterns, patterns.c.id == observations.c.pattern_id)
        .where(patterns.c.project_id == project_id)
        .group_by(observations.c.pattern_id)
    )
    counts = {row[0]: row[1] for row in connection.execute(query)}
    told = (
        select(patterns.c.id, func.count())
        .join(feedback, _is_on_pattern())
        .where(patterns.c.project_id == project_id)
        .group_by(patterns.c.id)
    )
    for row in connection.execute(told):
        counts[row[0]] = counts.get(row[0], 0) + row[1]
    return counts


def _is_on_pattern() -> ColumnElement[bool]:
    return and_(
        feedback.c.project_id == patterns.c.project_id,
        feedback.c.subject == "pattern",
        feedback.c.name == patterns.c.slug,
    )


def drop_unobserved(connection: Connection, pattern_ids: Collection[int]) -> list[str]:
    """Delete patterns that no outcome names, with their history; return their slugs."""
    ids = sorted(pattern_ids)
    dropped: list[str] = []
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        held = set(
            connection.execute(
                select(observations.c.pattern_id)
                .where(observations.c.pattern_id.in_(some))
                .distinct()
            ).scalars()
        )
        gone = [each for each in some if each not in held]
        slugs = select(patterns.c.slug).where(patterns.c.id.in_(gone))
        dropped += connection.execute(slugs).scalars()
        for table in (pattern_transitions, pattern_decisions, pattern_tags):
            connection.execute(delete(table).where(table.c.pattern_id.in_(gone)))
        connection.execute(delete(pattern_speakers).where(pattern_speakers.c.pattern_id.in_(gone)))
        connection.execute(delete(patterns).where(patterns.c.id.in_(gone)))
    return dropped


def write_history(
    connection: Connection, pattern_ids: Collection[int], rules: Rules, basis: DecayBasis
) -> None:
    """Rewrite the changes of state of patterns.

    Each observation takes effect when it was received, each decision when it was made.

    Args:
        connection: within a writing transaction that holds the patterns' sums.
        pattern_ids: which patterns.
        rules: what decides a state.
        basis: what the project's sums are relative to.
    """
    for pattern_id in sorted(pattern_ids):
        history = _History(rules, basis)
        for at, events in groupby(_events(connection, pattern_id), itemgetter(0)):
            history.go_on(at, [event[1:] for event in events])
        own = pattern_transitions.c.pattern_id == pattern_id
        connection.execute(delete(pattern_transitions).where(own))
        if history.rows:
            connection.execute(
                insert(pattern_transitions),
                [{"pattern_id": pattern_id} | row for row in history.rows],
            )
        connection.execute(
            update(patterns)
            .where(patterns.c.id == pattern_id)
            .values(
                reported_maturity=history.maturity,
                reported_inverted=history.is_inverted,
                decided_maturity=history.decided and history.decided.value,
            )
        )


def _events(connection: Connection, pattern_id: int) -> Iterator[tuple[float, int, Any]]:
    """Return what happened to a pattern, in the order in which it did."""
    seen = connection.execute(
        select(observations).where(observations.c.pattern_id == pattern_id)
    ).all()
    told = connection.execute(
        select(feedback)
        .join(patterns, _is_on_pattern())
        .where(patterns.c.id == pattern_id, ~feedback.c.is_waiting)
    ).all()
    made = connection.execute(
        select(pattern_decisions).where(pattern_decisions.c.pattern_id == pattern_id)
    ).all()
    events: list[tuple[float, int, int, Any]] = []
    for row in seen:
        events.append((row.received_at, _COUNT, row.outcome, row))
        if row.replaced_at is not None:
            events.append((row.replaced_at, _UNCOUNT, row.outcome, row))
    # Feedback on a pattern counts from when an outcome names it.
    first = min((row.received_at for row in seen), default=inf)
    events += [(max(row.received_at, first), _TELL, row.id, row) for row in told]
    events += [(row.at, _DECIDE, row.id, row) for row in made]
    events.sort(key=itemgetter(0, 1, 2))
    return ((at, what, row) for at, what, _, row in events)


@dataclass
class _History:
    """A pattern on its way from its first observation to today."""

    rules: Rules
    basis: DecayBasis
    speakers: dict[str, SpeakerSums] = field(default_factory=dict)
    sums: VerdictSums = field(default_factory=VerdictSums)
    succeeded: int = 0
    told: int = 0
    told_helpful: int = 0
    maturity: str | None = None
    is_inverted: bool = False
    decided: Maturity | None = None
    rows: list[dict[str, Any]] = field(default_factory=list)

    def go_on(self, at: float, events: list[tuple[int, Any]]) -> None:
        """Let everything of one moment happen."""
        for what, row in events:
            if what == _TELL:
                self._tell(row)
            elif what != _DECIDE:
                self._count(row, what == _COUNT)
        if any(what != _DECIDE for what, _ in events):
            self._report(at)
        for what, row in events:
            if what == _DECIDE:
                self._decide(at, row)

    def _count(self, row: Any, is_more: bool) -> None:  # noqa: ANN401 - a row of the observations
        verdict = Verdict(row.verdict)
        weight = row.weight / row.times * self.basis.weight(row.ended_at)
        times = row.times if is_more else -row.times
        self.succeeded += times * int(row.success)
        spoken = self.speakers.setdefault(row.speaker, SpeakerSums())
        spoken.succeeded += times * int(row.success)
        spoken.add(verdict, weight, is_claim=row.is_claim, times=times)
        self.sums.merge(several(verdict, weight, times, row.ended_at))

    def _tell(self, row: Any) -> None:  # noqa: ANN401 - a row of the feedback
        verdict = Verdict(row.verdict)
        self.told += 1
        self.told_helpful += verdict is Verdict.HELPFUL
        weight = self.basis.weight(row.given_at)
        spoken = self.speakers.setdefault(speaker_named(row.source), SpeakerSums())
        spoken.feedback += 1
        spoken.add(verdict, weight, is_claim=True)
        self.sums.add(verdict, weight, row.given_at)

    def _evidence(self, at: float) -> Evidence:
        sums = self.sums
        evidence = Evidence(
            helpful=sums.helpful,
            neutral=sums.neutral,
            harmful=sums.harmful,
            succeeded=self.succeeded,
            feedback=self.told,
            helpful_feedback=self.told_helpful,
            decayed_helpful=self.basis.value(max(sums.helpful_sum, 0.0), at),
            decayed_harmful=self.basis.value(max(sums.harmful_sum, 0.0), at),
        )
        parts = [
            each.counts(speaker, self.basis, at)
            for speaker, each in self.speakers.items()
            if each.helpful + each.neutral + each.harmful
        ]
        return heard(self.rules.caps, evidence, parts)

    def _state(self, evidence: Evidence) -> Maturity:
        return self.decided or maturity_of(self.rules.maturity, evidence)

    def _report(self, at: float) -> None:
        evidence = self._evidence(at)
        state = self._state(evidence)
        if state.value != self.maturity:
            self._write(at, MATURITY, self.maturity, state.value, evidence)
            self.maturity = state.value
        inverted = is_inverted(self.rules.antipatterns, evidence)
        if inverted != self.is_inverted:
            before, after = (LIFTED, INVERTED) if inverted else (INVERTED, LIFTED)
            self._write(at, INVERSION, before, after, evidence)
            self.is_inverted = inverted

    def _decide(self, at: float, row: Any) -> None:  # noqa: ANN401 - a row of the decisions
        evidence = self._evidence(at)
        before = self._state(evidence)
        action = DecisionAction(row.action)
        # What was decided stays decided, whatever the evidence says without what was forgotten.
        decision = Decision(action, row.actor, row.reason, row.at)
        self.decided = None if action is DecisionAction.RESET else decision.state
        after = self._state(evidence)
        self._write(at, MATURITY, before.value, after.value, evidence, row.id)
        self.maturity = after.value

    def _write(
        self,
        at: float,
        aspect: str,
        before: str | None,
        after: str,
        evidence: Evidence,
        decision_id: int | None = None,
    ) -> None:
        row = transition_row(at, aspect, before, after, evidence)
        self.rows.append(row | {"decision_id": decision_id})
