"""The sums behind each pattern: what a batch adds, and how it is added."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, case
from sqlalchemy.dialects import postgresql, sqlite

from trackrecord.learning.outcomes.scoring import Verdict
from trackrecord.wire.scored_outcome import STRATEGY, Touch

from ..database.engine import is_sqlite
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
        {"project_id": project_id, "slug": slug, "reported_inverted": False, **vars(delta)}
        for (project_id, slug), delta in sorted(deltas.items(), key=lambda item: item[0])
    ]
    # PostgreSQL's constructor serves both; SQLite's has the same methods under another name.
    dialect = sqlite if is_sqlite(connection) else postgresql
    statement = dialect.insert(patterns)
    new = statement.excluded
    table = patterns.c
    statement = statement.on_conflict_do_update(
        index_elements=[table.project_id, table.slug],
        set_={
            "kind": case((new.kind == STRATEGY, new.kind), else_=table.kind),
            "content": case((new.content < table.content, new.content), else_=table.content),
            "helpful": table.helpful + new.helpful,
            "neutral": table.neutral + new.neutral,
            "harmful": table.harmful + new.harmful,
            "helpful_sum": table.helpful_sum + new.helpful_sum,
            "harmful_sum": table.harmful_sum + new.harmful_sum,
            "last_validated": case(
                (new.last_validated.is_(None), table.last_validated),
                (table.last_validated.is_(None), new.last_validated),
                (new.last_validated > table.last_validated, new.last_validated),
                else_=table.last_validated,
            ),
        },
    )
    result = connection.execute(statement.returning(*table), rows)
    return {(row.project_id, row.slug): row for row in result}
