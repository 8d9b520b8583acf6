"""The sums behind each criterion, changed by a batch and read as its evidence and weight."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Connection, select

from trackrecord.learning.criteria.weights import (
    CriteriaRules,
    CriterionEvidence,
    CriterionStanding,
    criterion_standing,
    feedback_value,
)
from trackrecord.learning.numbers.decay import DecayBasis
from trackrecord.wire.outcome_scorer import ScoredOutcome

from ..database.upsert import Upsert, insert_rows
from ..outcomes.recorded_rules import read_bases
from ..outcomes.verdicts.verdict_sums import SUM_COLUMNS, VerdictSums, added
from .tables import criteria, criterion_feedback

CriterionKey = tuple[int, str]


@dataclass
class CriterionDeltas:
    """Changes of criteria by outcomes.

    Outcomes that name no criterion, most of them, are added up once for all default criteria.

    Attributes:
        judged: sums of own verdicts by project and the criteria that get them.
        named: sums of the verdicts on named criteria, by project and criterion.
        feedback: (criterion, received_at, outcome row, ended_at, verdict, raw value), one for each
            criterion that an outcome with named criteria has a say on.
    """

    judged: dict[tuple[int, tuple[str, ...]], VerdictSums] = field(default_factory=dict)
    named: dict[CriterionKey, VerdictSums] = field(default_factory=dict)
    feedback: list[tuple[CriterionKey, float, int, float, str, float]] = field(default_factory=list)

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
        given_verdict = outcome.verdict
        if given_verdict is None or outcome.raw_score is None:
            return
        weight = basis.weight(outcome.ended_at)
        own = feedback_value(given_verdict, outcome.raw_score)
        if outcome.judged:
            key = (project_id, outcome.judged)
            delta = self.judged.get(key)
            if delta is None:
                delta = self.judged[key] = VerdictSums()
            if counts:
                delta.add(given_verdict, own * weight, outcome.ended_at)
        if not outcome.named:
            return
        for each in outcome.named:
            named = self.named.setdefault((project_id, each.criterion), VerdictSums())
            if counts:
                named.add(each.verdict, each.value * weight, outcome.ended_at)
        given = [(each.criterion, each.verdict, each.value) for each in outcome.named]
        given += [(name, given_verdict, own) for name in outcome.judged]
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

    def totals(self) -> dict[CriterionKey, VerdictSums]:
        """All sums by project and criterion."""
        totals: dict[CriterionKey, VerdictSums] = {}
        for (project_id, names), delta in self.judged.items():
            for name in names:
                totals.setdefault((project_id, name), VerdictSums()).merge(delta)
        for key, delta in self.named.items():
            totals.setdefault(key, VerdictSums()).merge(delta)
        return totals


_GIVEN = tuple(
    column for column in criterion_feedback.c if column.name not in ("replaced_at", "times")
)


def write_criterion_deltas(connection: Connection, deltas: CriterionDeltas) -> None:
    """Add deltas to the stored sums, and store feedback that is nowhere else on record."""
    _add_sums(connection, deltas.totals())
    if not deltas.feedback:
        return
    ids = _ids(connection, {key for key, *_ in deltas.feedback})
    insert_rows(
        connection,
        criterion_feedback,
        _GIVEN,
        sorted((ids[key], *rest) for key, *rest in deltas.feedback),
    )


_COLUMNS = ("project_id", "name", *SUM_COLUMNS)
_ADD: Final = Upsert(criteria, _COLUMNS, key=_COLUMNS[:2], combine=added)


def _add_sums(connection: Connection, totals: Mapping[CriterionKey, VerdictSums]) -> None:
    # In the order of the key: two workers must not wait for each other in a circle.
    rows = [
        (*key, *sums.values()) for key, sums in sorted(totals.items(), key=lambda item: item[0])
    ]
    _ADD.execute(connection, rows)


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


def read_criteria(
    connection: Connection,
    project_id: int,
    rules: CriteriaRules,
    *,
    now: float,
    name: str | None = None,
) -> list[CriterionStanding]:
    """Return a project's criteria by name.

    Args:
        connection: a reading transaction.
        project_id: whose criteria.
        rules: what decides.
        now: the present, seconds since the epoch.
        name: only this criterion.
    """
    bases = read_bases(connection, project_id)
    if bases is None:
        return []
    basis = bases.criteria
    found = _present(connection, project_id, basis, now, name)
    return [criterion_standing(rules, each, found[each]) for each in sorted(found)]


def _present(
    connection: Connection, project_id: int, basis: DecayBasis, now: float, name: str | None
) -> dict[str, CriterionEvidence]:
    # Where all feedback was replaced, nothing is left of a criterion.
    is_known = criteria.c.helpful + criteria.c.neutral + criteria.c.harmful > 0
    query = select(criteria).where(criteria.c.project_id == project_id, is_known)
    if name is not None:
        query = query.where(criteria.c.name == name)
    return {
        row.name: CriterionEvidence(
            helpful=row.helpful,
            neutral=row.neutral,
            harmful=row.harmful,
            decayed_helpful=basis.value(row.helpful_sum, now),
            decayed_harmful=basis.value(row.harmful_sum, now),
            last_validated=row.last_validated,
        )
        for row in connection.execute(query)
    }
