"""The sums behind each criterion: what a batch adds, and how it is added."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, select

from trackrecord.learning.criteria.weights import feedback_value
from trackrecord.learning.numbers.decay import DecayBasis
from trackrecord.learning.outcomes.scoring import Verdict
from trackrecord.wire.scored_outcome import Appraised

from ..database.bulk_insert import insert_rows
from ..database.upsert import Columns, add_rows, later
from .tables import criteria, criterion_feedback

CriterionKey = tuple[int, str]


@dataclass(slots=True)
class CriterionDelta:
    """What a batch adds to one criterion."""

    helpful: int = 0
    neutral: int = 0
    harmful: int = 0
    helpful_sum: float = 0.0
    harmful_sum: float = 0.0
    last_validated: float | None = None

    def add(self, verdict: Verdict, weighed: float, ended_at: float) -> None:
        """Count one piece of feedback.

        Args:
            verdict: what it says.
            weighed: its raw value times the forward-decayed weight, see DecayBasis.weight.
            ended_at: when the task ended.
        """
        if verdict is Verdict.HELPFUL:
            self.helpful += 1
            self.helpful_sum += weighed
        elif verdict is Verdict.HARMFUL:
            self.harmful += 1
            self.harmful_sum += weighed
        else:
            self.neutral += 1
        if self.last_validated is None or ended_at > self.last_validated:
            self.last_validated = ended_at

    def merge(self, other: "CriterionDelta") -> None:
        """Add what another one adds."""
        self.helpful += other.helpful
        self.neutral += other.neutral
        self.harmful += other.harmful
        self.helpful_sum += other.helpful_sum
        self.harmful_sum += other.harmful_sum
        last = other.last_validated
        if last is not None and (self.last_validated is None or last > self.last_validated):
            self.last_validated = last


@dataclass
class CriterionDeltas:
    """What outcomes add to criteria.

    Outcomes that name no criterion, most of them, are added up once for all default criteria.

    Attributes:
        judged: sums of own verdicts by project and the criteria that get them.
        named: sums of the verdicts on named criteria, by project and criterion.
        feedback: (criterion, received_at, outcome row, ended_at, verdict, raw value), one for each
            criterion that an outcome with named criteria has a say on.
    """

    judged: dict[tuple[int, tuple[str, ...]], CriterionDelta] = field(default_factory=dict)
    named: dict[CriterionKey, CriterionDelta] = field(default_factory=dict)
    feedback: list[tuple[CriterionKey, float, int, float, str, float]] = field(default_factory=list)

    def add(self, project_id: int, row_id: int, outcome: Appraised, basis: DecayBasis) -> None:
        """Count one outcome that is recorded in that row."""
        weight = basis.weight(outcome.ended_at)
        own = feedback_value(outcome.verdict, outcome.raw_score)
        if outcome.judged:
            key = (project_id, outcome.judged)
            delta = self.judged.get(key)
            if delta is None:
                delta = self.judged[key] = CriterionDelta()
            delta.add(outcome.verdict, own * weight, outcome.ended_at)
        if not outcome.named:
            return
        for each in outcome.named:
            named = self.named.setdefault((project_id, each.criterion), CriterionDelta())
            named.add(each.verdict, each.value * weight, outcome.ended_at)
        given = [(each.criterion, each.verdict, each.value) for each in outcome.named]
        given += [(name, outcome.verdict, own) for name in outcome.judged]
        self.feedback += [
            (
                (project_id, name),
                outcome.received_at,
                row_id,
                outcome.ended_at,
                verdict.value,
                value,
            )
            for name, verdict, value in given
        ]

    def totals(self) -> dict[CriterionKey, CriterionDelta]:
        """All sums by project and criterion."""
        totals: dict[CriterionKey, CriterionDelta] = {}
        for (project_id, names), delta in self.judged.items():
            for name in names:
                totals.setdefault((project_id, name), CriterionDelta()).merge(delta)
        for key, delta in self.named.items():
            totals.setdefault(key, CriterionDelta()).merge(delta)
        return totals


def write_criterion_deltas(connection: Connection, deltas: CriterionDeltas) -> None:
    """Add deltas to the stored sums, and write the feedback down that nothing else says."""
    _add_sums(connection, deltas.totals())
    if not deltas.feedback:
        return
    ids = _ids(connection, {key for key, *_ in deltas.feedback})
    insert_rows(
        connection,
        criterion_feedback,
        tuple(criterion_feedback.c),
        sorted((ids[key], *rest) for key, *rest in deltas.feedback),
    )


_COLUMNS = (
    "project_id", "name", "helpful", "neutral", "harmful", "helpful_sum", "harmful_sum",
    "last_validated",
)  # fmt: skip


def _add_sums(connection: Connection, totals: Mapping[CriterionKey, CriterionDelta]) -> None:
    # In the order of the key: two workers must not wait for each other in a circle.
    rows = [
        (
            *key,
            delta.helpful,
            delta.neutral,
            delta.harmful,
            delta.helpful_sum,
            delta.harmful_sum,
            delta.last_validated,
        )
        for key, delta in sorted(totals.items(), key=lambda item: item[0])
    ]
    add_rows(connection, criteria, _COLUMNS, rows, key=_COLUMNS[:2], combine=_added)


def _added(table: Columns, new: Columns) -> dict[str, Any]:
    sums: dict[str, Any] = {name: table[name] + new[name] for name in _COLUMNS[2:-1]}
    return sums | {"last_validated": later(table.last_validated, new.last_validated)}


def _ids(connection: Connection, keys: Iterable[CriterionKey]) -> dict[CriterionKey, int]:
    wanted: dict[int, list[str]] = {}
    for project_id, name in sorted(keys):
        wanted.setdefault(project_id, []).append(name)
    columns = criteria.c
    ids: dict[CriterionKey, int] = {}
    for project_id, names in wanted.items():
        for start in range(0, len(names), _NAMES_AT_ONCE):
            query = select(columns.name, columns.id).where(
                columns.project_id == project_id,
                columns.name.in_(names[start : start + _NAMES_AT_ONCE]),
            )
            ids |= {(project_id, row.name): row.id for row in connection.execute(query)}
    return ids


_NAMES_AT_ONCE = 10_000
