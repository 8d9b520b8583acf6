"""The sums behind each pattern: what a batch adds, and how it is added."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, case, literal_column

from trackrecord.learning.outcomes.scoring import Verdict
from trackrecord.wire.scored_outcome import STRATEGY, Touch

from ..database.upsert import Columns, add_rows, later
from .tables import patterns

PatternKey = tuple[int, str]
PatternRow = Row[Any]


# An enum's members are looked up slowly, and this is done for every pattern of every outcome.
_HELPFUL, _NEUTRAL = Verdict.HELPFUL, Verdict.NEUTRAL


@dataclass
class PatternDelta:
    """What a batch adds to one pattern."""

    kind: str = ""
    content: str = ""
    helpful: int = 0
    neutral: int = 0
    harmful: int = 0
    helpful_sum: float = 0.0
    harmful_sum: float = 0.0
    last_validated: float | None = None

    def add(self, touch: Touch, verdict: Verdict, weight: float, ended_at: float) -> None:
        """Count one outcome that touched the pattern.

        Args:
            touch: how the outcome names the pattern.
            verdict: what the outcome says.
            weight: forward-decayed, see DecayBasis.weight.
            ended_at: when the task ended.
        """
        # Which spelling is kept must not depend on the order of arrival: the smallest one.
        if not self.content or touch.content < self.content:
            self.content = touch.content
        if self.kind != STRATEGY:
            self.kind = touch.kind
        if verdict is _NEUTRAL:
            self.neutral += 1
            return
        if verdict is _HELPFUL:
            self.helpful += 1
            self.helpful_sum += weight
        else:
            self.harmful += 1
            self.harmful_sum += weight
        if self.last_validated is None or ended_at > self.last_validated:
            self.last_validated = ended_at


def add_pattern_deltas(
    connection: Connection, deltas: Mapping[PatternKey, PatternDelta]
) -> dict[PatternKey, PatternRow]:
    """Add deltas to the stored sums; answers each pattern's row as it then is."""
    if not deltas:
        return {}
    # Always in the order of the key: two workers that add to the same patterns at once must
    # not wait for each other in a circle.
    rows = [
        (
            *key,
            delta.kind,
            delta.content,
            delta.helpful,
            delta.neutral,
            delta.harmful,
            delta.helpful_sum,
            delta.harmful_sum,
            delta.last_validated,
            False,
        )
        for key, delta in sorted(deltas.items(), key=lambda item: item[0])
    ]
    found = add_rows(
        connection, patterns, _COLUMNS, rows,
        key=_COLUMNS[:2], combine=_added, returning=tuple(patterns.c),
    )  # fmt: skip
    return {(row.project_id, row.slug): row for row in found}


_COLUMNS = (
    "project_id", "slug", "kind", "content", "helpful", "neutral", "harmful", "helpful_sum",
    "harmful_sum", "last_validated", "reported_inverted",
)  # fmt: skip
_STRATEGY: ColumnElement[str] = literal_column(f"'{STRATEGY}'")


def _added(table: Columns, new: Columns) -> dict[str, Any]:
    return {
        "kind": case((new.kind == _STRATEGY, new.kind), else_=table.kind),
        "content": case((new.content < table.content, new.content), else_=table.content),
        "last_validated": later(table.last_validated, new.last_validated),
    } | {name: table[name] + new[name] for name in _COLUMNS[4:9]}
