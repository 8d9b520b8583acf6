"""The evidence on patterns: the totals of each speaker, as they count at a moment."""

from collections.abc import Mapping
from math import fsum

from sqlalchemy import Connection

from trackrecord.learning.numbers.decay import DecayBasis
from trackrecord.learning.numbers.speakers import SpeakerCounts
from trackrecord.learning.patterns.evidence import Evidence, heard
from trackrecord.learning.rules_bundle import Rules

from ..ledger.read import Cells, read_totals
from ..ledger.subjects import CLAIMED, HARMFUL, HELPFUL, NEUTRAL, PATTERN, TOLD, VERIFIED
from ..ledger.tables import items

_NOTHING = (0, 0.0)


def evidence_of(
    spoken: Mapping[str, Cells], rules: Rules, basis: DecayBasis, at: float
) -> Evidence:
    """Return the evidence on a pattern as of a moment not before its outcomes.

    Args:
        spoken: its totals by speaker.
        rules: how much one source counts for.
        basis: what its sums are relative to.
        at: the moment.
    """
    factor = basis.factor(at)
    parts = [_counts(speaker, cells, factor) for speaker, cells in spoken.items()]
    counts, good, bad = [0] * 5, [], []
    for part in parts:
        counts[0] += part.helpful
        counts[1] += part.neutral
        counts[2] += part.harmful
        counts[3] += part.succeeded
        counts[4] += part.feedback
        good.append(part.decayed_helpful)
        bad.append(part.decayed_harmful)
    helpful, neutral, harmful, succeeded, feedback = counts
    evidence = Evidence(
        helpful,
        neutral,
        harmful,
        fsum(good),
        fsum(bad),
        succeeded,
        feedback,
        helpful - succeeded,
    )
    return heard(rules.caps, evidence, parts)


def _counts(speaker: str, cells: Cells, factor: float) -> SpeakerCounts:
    of = cells.get
    won, lost = of(VERIFIED + HELPFUL, _NOTHING), of(VERIFIED + HARMFUL, _NOTHING)
    claimed_won, claimed_lost = of(CLAIMED + HELPFUL, _NOTHING), of(CLAIMED + HARMFUL, _NOTHING)
    praised, blamed = of(TOLD + HELPFUL, _NOTHING), of(TOLD + HARMFUL, _NOTHING)
    neutral = of(TOLD + NEUTRAL, _NOTHING)[0]
    claimed = claimed_won[1] + praised[1], claimed_lost[1] + blamed[1]
    # Nothing stays nothing; the factor may be beyond the range of a float.
    good, bad, claimed_good, claimed_bad = [
        mass * factor if mass > 0.0 else 0.0
        for mass in (won[1] + claimed[0], lost[1] + claimed[1], *claimed)
    ]
    succeeded = won[0] + claimed_won[0]
    return SpeakerCounts(
        succeeded + praised[0],
        neutral,
        lost[0] + claimed_lost[0] + blamed[0],
        good,
        bad,
        speaker,
        succeeded,
        praised[0] + neutral + blamed[0],
        claimed_good,
        claimed_bad,
    )


def held_evidence(
    connection: Connection, project_id: int, row_id: int, rules: Rules, basis: DecayBasis, at: float
) -> Evidence:
    """Return the evidence on one pattern, by its row."""
    found = read_totals(connection, project_id, PATTERN, items.c.id == row_id)
    return evidence_of(found.get(row_id, {}), rules, basis, at)
