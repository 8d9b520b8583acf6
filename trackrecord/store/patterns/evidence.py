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
    evidence = Evidence(
        helpful=sum(part.helpful for part in parts),
        neutral=sum(part.neutral for part in parts),
        harmful=sum(part.harmful for part in parts),
        succeeded=sum(part.succeeded for part in parts),
        feedback=sum(part.feedback for part in parts),
        helpful_feedback=sum(cells.get(TOLD + HELPFUL, _NOTHING)[0] for cells in spoken.values()),
        decayed_helpful=fsum(part.decayed_helpful for part in parts),
        decayed_harmful=fsum(part.decayed_harmful for part in parts),
    )
    return heard(rules.caps, evidence, parts)


def _counts(speaker: str, cells: Cells, factor: float) -> SpeakerCounts:
    helpful, harmful = (
        [cells.get(grade + verdict, _NOTHING) for grade in (VERIFIED, CLAIMED, TOLD)]
        for verdict in (HELPFUL, HARMFUL)
    )
    neutral = cells.get(TOLD + NEUTRAL, _NOTHING)[0]
    # Nothing stays nothing; the factor may be beyond the range of a float.
    good, bad = (
        [mass * factor if mass > 0 else 0.0 for _, mass in of] for of in (helpful, harmful)
    )
    return SpeakerCounts(
        helpful=sum(n for n, _ in helpful),
        neutral=neutral,
        harmful=sum(n for n, _ in harmful),
        decayed_helpful=sum(good),
        decayed_harmful=sum(bad),
        speaker=speaker,
        succeeded=helpful[0][0] + helpful[1][0],
        feedback=helpful[2][0] + neutral + harmful[2][0],
        claimed_helpful=good[1] + good[2],
        claimed_harmful=bad[1] + bad[2],
    )


def held_evidence(
    connection: Connection, project_id: int, row_id: int, rules: Rules, basis: DecayBasis, at: float
) -> Evidence:
    """Return the evidence on one pattern, by its row."""
    found = read_totals(connection, project_id, PATTERN, items.c.id == row_id)
    return evidence_of(found.get(row_id, {}), rules, basis, at)
