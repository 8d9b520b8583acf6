"""Subtract the feedback of replaced records of outcomes from criteria."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection, bindparam, func, select, update

from trackrecord.learning.criteria.weights import feedback_value
from trackrecord.learning.numbers.decay import DecayBasis
from trackrecord.learning.outcomes.scoring import Verdict

from ..outcomes.as_of import OUTCOME_IS_CURRENT
from ..outcomes.feedback.feedback_sums import last_given
from ..outcomes.replaced import Replaced
from ..outcomes.tables import outcomes
from ..outcomes.verdicts.verdict_sums import NEVER, VerdictSums, settled, validates
from .sums import CriterionDeltas, CriterionKey
from .tables import criteria, criterion_feedback


def take_back_feedback(
    connection: Connection,
    replaced: Sequence[Replaced],
    deltas: CriterionDeltas,
    basis: DecayBasis,
    defaults: tuple[str, ...],
) -> dict[CriterionKey, float]:
    """Subtract replaced records from deltas; from then on their feedback is of the past.

    Args:
        connection: within the transaction that replaces the records.
        replaced: records of one project.
        deltas: what the records in their place tell, all of it.
        basis: what the project's sums are relative to.
        defaults: the default criteria.

    Returns:
        The criteria that had feedback, and when the last of the replaced outcomes had ended; NEVER
        where a record in their place is as late.
    """
    told: dict[CriterionKey, float] = {}
    for each in replaced:
        found = _listed(connection, each) if each.names_criteria else _own(each, defaults)
        for name, verdict, value in found:
            key = (each.project_id, name)
            sums = deltas.named.setdefault(key, VerdictSums())
            sums.take_back(verdict, value * basis.weight(each.outcome.ended_at))
            told[key] = max(told.get(key, each.outcome.ended_at), each.outcome.ended_at)
    totals = deltas.totals()
    return {
        key: NEVER if validates(totals[key], ended_at) else ended_at
        for key, ended_at in told.items()
    }


_Feedback = tuple[str, Verdict, float]


def _own(each: Replaced, defaults: tuple[str, ...]) -> list[_Feedback]:
    verdict, score = each.outcome.verdict, each.outcome.raw_score
    if verdict is None or score is None:
        return []
    return [(name, verdict, feedback_value(verdict, score)) for name in defaults]


def _listed(connection: Connection, each: Replaced) -> list[_Feedback]:
    seen = criterion_feedback.c
    query = (
        select(criteria.c.id, criteria.c.name, seen.verdict, seen.value)
        .join(criterion_feedback, seen.criterion_id == criteria.c.id)
        .where(
            criteria.c.project_id == each.project_id,
            seen.received_at == each.received_at,
            seen.outcome == each.row,
        )
    )
    found = connection.execute(query).all()
    if found:
        connection.execute(
            update(criterion_feedback)
            .where(
                seen.criterion_id == bindparam("of"),
                seen.received_at == bindparam("then"),
                seen.outcome == bindparam("by"),
            )
            .values(replaced_at=bindparam("at")),
            [
                {"of": row.id, "then": each.received_at, "by": each.row, "at": each.replaced_at}
                for row in found
            ],
        )
    return [(row.name, Verdict(row.verdict), row.value) for row in found]


def settle_criteria(
    connection: Connection, told: dict[CriterionKey, float], defaults: tuple[str, ...]
) -> None:
    """Correct the criteria that something was taken back from.

    Args:
        connection: within the same transaction, after the deltas were written.
        told: what `take_back_feedback` returned.
        defaults: the default criteria.
    """
    for (project_id, name), ended_at in sorted(told.items()):
        row = connection.execute(_SETTLE, {"of": project_id, "named": name}).one()
        if row.last_validated is not None and row.last_validated <= ended_at:
            last = _last_told(connection, project_id, row.id, name, is_default=name in defaults)
            connection.execute(
                update(criteria).where(criteria.c.id == row.id).values(last_validated=last)
            )


# Built once: building it takes longer than running it.
_SETTLE: Final = (
    update(criteria)
    .where(criteria.c.project_id == bindparam("of"), criteria.c.name == bindparam("named"))
    .values(**settled(criteria.c))
    .returning(criteria.c.id, criteria.c.last_validated)
)


def _last_told(
    connection: Connection, project_id: int, criterion_id: int, name: str, *, is_default: bool
) -> float | None:
    seen = criterion_feedback.c
    queries: list[Any] = [
        select(func.max(seen.ended_at)).where(
            seen.criterion_id == criterion_id, seen.replaced_at.is_(None)
        ),
        select(last_given("criterion", project_id, name, neutral_counts=True)),
    ]
    if is_default:
        queries.append(
            select(func.max(outcomes.c.ended_at)).where(
                outcomes.c.project_id == project_id,
                ~outcomes.c.names_criteria,
                outcomes.c.success.is_not(None),
                OUTCOME_IS_CURRENT,
            )
        )
    found = (connection.execute(query).scalar() for query in queries)
    return max((each for each in found if each is not None), default=None)
