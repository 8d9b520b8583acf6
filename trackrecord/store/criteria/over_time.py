"""The evidence of criteria at many past moments."""

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import Connection, and_, case, func, select

from trackrecord.learning.numbers.verdict_counts import VerdictCounts, sum_of
from trackrecord.learning.outcomes.scoring import Verdict

from ..outcomes.decay_basis import read_bases
from ..outcomes.projects import first_received
from ..outcomes.tables import feedback, outcomes
from ..outcomes.verdicts.verdicts_over_time import (
    PastCounts,
    VerdictRows,
    feedback_rows,
    verdicts_over_time,
)
from .tables import criteria, criterion_feedback


def criteria_over_time(
    connection: Connection,
    project_id: int,
    names: Sequence[str],
    defaults: Collection[str],
    moments: Sequence[float],
) -> Mapping[str, list[VerdictCounts | None]]:
    """Return the feedback to criteria at each moment; None where there was none yet.

    Args:
        connection: a reading transaction.
        project_id: whose criteria.
        names: which criteria; those without any feedback are left out.
        defaults: the default criteria.
        moments: rising.
    """
    bases = read_bases(connection, project_id)
    if bases is None:
        return {}
    half_life = bases.half_lives.criteria
    query = select(criteria.c.id, criteria.c.name).where(
        criteria.c.project_id == project_id, criteria.c.name.in_(names)
    )
    name_of = {row.id: row.name for row in connection.execute(query)}
    parts: dict[str, list[list[PastCounts]]] = {name: [] for name in names}
    listed = verdicts_over_time(connection, _listed(list(name_of)), moments, half_life)
    for row, found in listed.items():
        parts[name_of[row]].append(found)
    rows = feedback_rows(project_id, "criterion", names)
    for name, found in verdicts_over_time(connection, rows, moments, half_life).items():
        parts[name].append(found)
    wanted = [name for name in names if name in defaults]
    if wanted:
        own = verdicts_over_time(connection, _own_verdicts(project_id), moments, half_life)
        for name in wanted:
            parts[name] += own.values()
    return {name: _together(found) for name, found in parts.items() if found}


def first_feedback(
    connection: Connection, project_id: int, name: str, *, is_default: bool
) -> float | None:
    """Return when the first feedback to a criterion was received; None without any.

    Args:
        connection: a reading transaction.
        project_id: whose criterion.
        name: its name.
        is_default: whether the verdicts of all outcomes count for it.
    """
    listed = (
        select(func.min(criterion_feedback.c.received_at))
        .join(criteria, criteria.c.id == criterion_feedback.c.criterion_id)
        .where(criteria.c.project_id == project_id, criteria.c.name == name)
    )
    alone = select(func.min(feedback.c.received_at)).where(
        feedback.c.project_id == project_id,
        feedback.c.subject == "criterion",
        feedback.c.name == name,
    )
    found = [connection.execute(query).scalar() for query in (listed, alone)]
    if is_default:
        found.append(first_received(connection, project_id))
    return min((moment for moment in found if moment is not None), default=None)


def _together(parts: Sequence[Sequence[PastCounts]]) -> list[VerdictCounts | None]:
    sums = (sum_of(each.counts for each in then) for then in zip(*parts, strict=True))
    return [counts if counts.reports else None for counts in sums]


def _listed(ids: Sequence[int]) -> VerdictRows:
    seen = criterion_feedback.c
    return VerdictRows(
        criterion_feedback, seen.criterion_id, seen.received_at, seen.ended_at, seen.verdict,
        seen.value, seen.criterion_id.in_(ids), seen.replaced_at, seen.times,
    )  # fmt: skip


def _own_verdicts(project_id: int) -> VerdictRows:
    """The verdicts of outcomes that name no criterion, which every default criterion gets."""
    seen = outcomes.c
    value = case((seen.verdict == Verdict.HELPFUL.value, seen.raw_score), else_=1 - seen.raw_score)
    return VerdictRows(
        outcomes, seen.project_id, seen.received_at, seen.ended_at, seen.verdict, value,
        and_(seen.project_id == project_id, ~seen.names_criteria, seen.success.is_not(None)),
        func.nullif(seen.replaced_at, 0.0),
    )  # fmt: skip
