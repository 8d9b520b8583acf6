"""What outcomes add up to, and adding it to the stored statistics."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import Connection

from trackrecord.learning.numbers.decay import DecayBasis
from trackrecord.wire.scored_outcome import Appraised

from ..database.bulk_insert import insert_rows
from .sums import PatternDelta, PatternKey, PatternRow, add_pattern_deltas
from .tables import observations


@dataclass
class Deltas:
    """What outcomes add to patterns.

    Attributes:
        patterns: sums by project and slug.
        observations: (pattern, received_at, outcome row, ended_at, verdict), one for each pattern
            that an outcome touched.
    """

    patterns: dict[PatternKey, PatternDelta] = field(default_factory=dict)
    observations: list[tuple[PatternKey, float, int, float, str]] = field(default_factory=list)

    def add(self, project_id: int, row_id: int, outcome: Appraised, basis: DecayBasis) -> None:
        """Count one outcome that is recorded in that row."""
        if not outcome.touches:
            return
        weight = basis.weight(outcome.ended_at)
        verdict = outcome.verdict.value
        for touch in outcome.touches:
            key = (project_id, touch.slug)
            delta = self.patterns.get(key)
            if delta is None:
                delta = self.patterns[key] = PatternDelta()
            delta.add(touch, outcome.verdict, weight, outcome.ended_at)
            self.observations.append((key, outcome.received_at, row_id, outcome.ended_at, verdict))


def write_deltas(connection: Connection, deltas: Deltas) -> Mapping[PatternKey, PatternRow]:
    """Add deltas to the store; answers the patterns that changed, as they then are."""
    rows = add_pattern_deltas(connection, deltas.patterns)
    ids = {key: row.id for key, row in rows.items()}
    insert_rows(
        connection,
        observations,
        tuple(observations.c),
        sorted((ids[key], *rest) for key, *rest in deltas.observations),
    )
    return rows
