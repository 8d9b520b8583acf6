"""The sums behind each pattern: what outcomes add up to, and how that is added."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, case, literal_column

from trackrecord.learning.numbers.decay import DecayBasis
from trackrecord.learning.outcomes.scoring import Verdict, verdict_on_patterns
from trackrecord.wire.outcome_scorer import STRATEGY, ScoredOutcome, Touch

from ..database.upsert import Columns, Upsert, insert_rows
from ..outcomes.verdicts.verdict_sums import SUM_COLUMNS, VerdictSums, added
from .speakers import SpeakerSums, add_speakers
from .tables import observations, patterns

PatternKey = tuple[int, str]
PatternRow = Row[Any]

_NEUTRAL = Verdict.NEUTRAL


@dataclass(slots=True)
class PatternDelta(VerdictSums):
    """The changes of one pattern by a batch."""

    kind: str = ""
    content: str = ""
    succeeded: int = 0
    feedback: int = 0
    helpful_feedback: int = 0
    speakers: dict[str, SpeakerSums] = field(default_factory=dict)

    def of(self, speaker: str) -> SpeakerSums:
        """Return the changes of one speaker's sums."""
        sums = self.speakers.get(speaker)
        if sums is None:
            sums = self.speakers[speaker] = SpeakerSums()
        return sums

    def add_touch(self, touch: Touch, outcome: ScoredOutcome, weight: float) -> None:
        """Count one outcome that touched the pattern, and whose verdict is known.

        Args:
            touch: how the outcome names the pattern.
            outcome: the outcome.
            weight: forward-decayed, see DecayBasis.weight.
        """
        success = bool(outcome.success)
        verdict = verdict_on_patterns(success=success)
        self.succeeded += success
        self.name(touch)
        sums = self.of(outcome.speaker)
        sums.succeeded += success
        sums.add(verdict, weight, is_claim=outcome.is_claim)
        self.add(verdict, weight, outcome.ended_at)

    def add_feedback(self, verdict: Verdict, weight: float, given_at: float, speaker: str) -> None:
        """Count one verdict that was given as feedback, of no outcome."""
        sums = self.of(speaker)
        sums.feedback += 1
        sums.add(verdict, weight, is_claim=True)
        self.feedback += 1
        self.helpful_feedback += verdict is Verdict.HELPFUL
        if verdict is _NEUTRAL:
            self.neutral += 1
        else:
            self.add(verdict, weight, given_at)

    def name(self, touch: Touch) -> None:
        """Spell the pattern as an outcome names it."""
        # Which spelling is kept must not depend on the order of arrival: the smallest one.
        if not self.content or touch.content < self.content:
            self.content = touch.content
        if self.kind != STRATEGY:
            self.kind = touch.kind


# The pattern; when it was received, its row, when it ended, the verdict on the pattern, and
# success of the outcome; whose word it is, and whether no more than that.
Observation = tuple[PatternKey, float, int, float, str, bool, str, bool]


@dataclass
class Deltas:
    """The changes of patterns by outcomes.

    Attributes:
        patterns: sums by project and slug.
        observations: one for each pattern that an outcome touched.
    """

    patterns: dict[PatternKey, PatternDelta] = field(default_factory=dict)
    observations: list[Observation] = field(default_factory=list)

    def add(
        self,
        project_id: int,
        row_id: int,
        outcome: ScoredOutcome,
        basis: DecayBasis,
        *,
        counts: bool = True,
    ) -> None:
        """Count one outcome that is recorded in that row; or only note it, for the past."""
        if not outcome.touches or outcome.verdict is None:
            return
        weight = basis.weight(outcome.ended_at)
        verdict = verdict_on_patterns(success=bool(outcome.success)).value
        for touch in outcome.touches:
            key = (project_id, touch.slug)
            delta = self.patterns.get(key)
            if delta is None:
                delta = self.patterns[key] = PatternDelta()
            if counts:
                delta.add_touch(touch, outcome, weight)
            else:
                delta.name(touch)
            self.observations.append(
                (
                    key, outcome.received_at, row_id, outcome.ended_at, verdict,
                    bool(outcome.success), outcome.speaker, outcome.is_claim,
                )
            )  # fmt: skip


# The others are those of one observation that counts.
_OBSERVED = tuple(
    column for column in observations.c if column.name not in ("replaced_at", "times", "weight")
)


def write_deltas(connection: Connection, deltas: Deltas) -> Mapping[PatternKey, PatternRow]:
    """Add deltas to the store; answers the patterns that changed, as they then are."""
    rows = add_sums(connection, deltas.patterns)
    ids = {key: row.id for key, row in rows.items()}
    insert_rows(
        connection,
        observations,
        _OBSERVED,
        sorted((ids[key], *rest) for key, *rest in deltas.observations),
    )
    return rows


_COLUMNS = (
    "project_id", "slug", "kind", "content", "reported_inverted", "succeeded", "feedback",
    "helpful_feedback", *SUM_COLUMNS,
)  # fmt: skip
_STRATEGY: ColumnElement[str] = literal_column(f"'{STRATEGY}'")


def add_sums(
    connection: Connection, deltas: Mapping[PatternKey, PatternDelta]
) -> dict[PatternKey, PatternRow]:
    """Add sums to those in the store; return the patterns that changed, as they then are."""
    # Always in the order of the key: two workers that add to the same patterns at once must
    # not wait for each other in a circle.
    rows = [
        (
            *key, delta.kind, delta.content, False, delta.succeeded, delta.feedback,
            delta.helpful_feedback, *delta.values(),
        )
        for key, delta in sorted(deltas.items(), key=lambda item: item[0])
    ]  # fmt: skip
    changed = {(row.project_id, row.slug): row for row in _ADD.execute(connection, rows)}
    add_speakers(
        connection,
        ((changed[key].id, key[0], delta.speakers) for key, delta in deltas.items()),
    )
    return changed


def _added(table: Columns, new: Columns) -> dict[str, Any]:
    return added(table, new) | {
        "kind": case((new.kind == _STRATEGY, new.kind), else_=table.kind),
        **{name: table[name] + new[name] for name in ("succeeded", "feedback", "helpful_feedback")},
        "content": case((new.content < table.content, new.content), else_=table.content),
    }


_ADD: Final = Upsert(
    patterns,
    _COLUMNS,
    key=_COLUMNS[:2],
    combine=_added,
    returning=(patterns.c.id, *(patterns.c[name] for name in (*_COLUMNS[:2], "last_validated"))),
)
