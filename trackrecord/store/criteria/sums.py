"""Reading criteria: their totals as evidence and weight."""

from collections.abc import Iterable

from sqlalchemy import Connection, select

from trackrecord.learning.criteria.weights import (
    CriteriaRules,
    CriterionEvidence,
    CriterionStanding,
    criterion_standing,
)
from trackrecord.learning.numbers.decay import DecayBasis

from ..ledger.read import Cells, own_items, read_totals
from ..ledger.subjects import CLAIMED, CRITERION, HARMFUL, HELPFUL, NEUTRAL
from ..ledger.tables import items
from ..outcomes.recorded_rules import read_bases


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
    where = () if name is None else (items.c.name == name,)
    spoken = read_totals(connection, project_id, CRITERION, *where)
    query = select(items.c.id, items.c.name, items.c.last)
    known = connection.execute(query.where(own_items(project_id, CRITERION), *where))
    # Where all feedback was replaced, nothing is left of a criterion.
    found = {
        row.name: _evidence(spoken[row.id].values(), bases.criteria, now, row.last)
        for row in known
        if row.id in spoken
    }
    return [criterion_standing(rules, each, found[each]) for each in sorted(found)]


def _evidence(
    spoken: Iterable[Cells], basis: DecayBasis, now: float, last: float | None
) -> CriterionEvidence:
    counts, masses = [0, 0, 0], [0.0, 0.0, 0.0]
    for cells in spoken:
        for cell, (n, mass) in cells.items():
            counts[cell % CLAIMED] += n
            masses[cell % CLAIMED] += max(mass, 0.0)
    return CriterionEvidence(
        helpful=counts[HELPFUL],
        neutral=counts[NEUTRAL],
        harmful=counts[HARMFUL],
        decayed_helpful=basis.value(masses[HELPFUL], now),
        decayed_harmful=basis.value(masses[HARMFUL], now),
        last_validated=last,
    )
