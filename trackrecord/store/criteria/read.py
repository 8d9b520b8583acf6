"""Reading criteria and their evidence."""

from sqlalchemy import Connection, select

from trackrecord.learning.criteria.weights import (
    CriteriaRules,
    CriterionEvidence,
    CriterionStanding,
    criterion_standing,
)
from trackrecord.learning.numbers.decay import DecayBasis

from ..outcomes.decay_basis import read_bases
from .tables import criteria


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
