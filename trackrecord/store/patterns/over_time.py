"""The evidence of patterns at many past moments."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, func, select

from trackrecord.learning.numbers.verdict_counts import VerdictCounts, sum_of

from ..outcomes.decay_basis import read_bases
from ..outcomes.verdicts.verdicts_over_time import (
    PastCounts,
    VerdictRows,
    feedback_rows,
    verdicts_over_time,
)
from .tables import observations, patterns


def patterns_over_time(
    connection: Connection, project_id: int, slugs: Sequence[str], moments: Sequence[float]
) -> Mapping[str, list[VerdictCounts | None]]:
    """Return the verdicts on patterns at each moment; None where no outcome had named one yet.

    Args:
        connection: a reading transaction.
        project_id: whose patterns.
        slugs: which patterns; those that no outcome names are left out.
        moments: rising.
    """
    bases = read_bases(connection, project_id)
    if bases is None:
        return {}
    half_life = bases.half_lives.patterns
    query = select(patterns.c.id, patterns.c.slug).where(
        patterns.c.project_id == project_id, patterns.c.slug.in_(slugs)
    )
    slug_of = {row.id: row.slug for row in connection.execute(query)}
    seen = verdicts_over_time(connection, _observed(list(slug_of)), moments, half_life)
    rows = feedback_rows(project_id, "pattern", list(slug_of.values()))
    told = verdicts_over_time(connection, rows, moments, half_life)
    nothing = [PastCounts(VerdictCounts(), had_come=False)] * len(moments)
    return {
        slug_of[row]: [*map(_together, found, told.get(slug_of[row], nothing))]
        for row, found in seen.items()
    }


def first_observed(connection: Connection, project_id: int, slug: str) -> float | None:
    """Return when the first outcome that names a pattern was received; None without any."""
    query = (
        select(func.min(observations.c.received_at))
        .join(patterns, patterns.c.id == observations.c.pattern_id)
        .where(patterns.c.project_id == project_id, patterns.c.slug == slug)
    )
    return connection.execute(query).scalar()


def _together(seen: PastCounts, told: PastCounts) -> VerdictCounts | None:
    # Feedback on a pattern counts from when an outcome names it.
    counts = sum_of((seen.counts, told.counts)) if seen.had_come else seen.counts
    return counts if counts.reports else None


def _observed(ids: Sequence[int]) -> VerdictRows:
    seen = observations.c
    return VerdictRows(
        observations, seen.pattern_id, seen.received_at, seen.ended_at, seen.verdict, seen.weight,
        seen.pattern_id.in_(ids), seen.replaced_at, seen.times,
    )  # fmt: skip
