"""The patterns that something on record names, and dropping those that nothing does."""

from collections.abc import Collection
from typing import Final

from sqlalchemy import ColumnElement, Connection, and_, delete, func, select

from ..outcomes.tables import feedback
from .tables import (
    observations,
    pattern_decisions,
    pattern_speakers,
    pattern_tags,
    pattern_transitions,
    patterns,
)

_AT_ONCE: Final = 500


def observed(connection: Connection, project_id: int) -> dict[int, int]:
    """Return how many observations, replaced ones too, and verdicts by feedback a pattern has."""
    query = (
        select(observations.c.pattern_id, func.count())
        .join(patterns, patterns.c.id == observations.c.pattern_id)
        .where(patterns.c.project_id == project_id)
        .group_by(observations.c.pattern_id)
    )
    counts = {row[0]: row[1] for row in connection.execute(query)}
    told = (
        select(patterns.c.id, func.count())
        .join(feedback, _is_on_pattern())
        .where(patterns.c.project_id == project_id)
        .group_by(patterns.c.id)
    )
    for row in connection.execute(told):
        counts[row[0]] = counts.get(row[0], 0) + row[1]
    return counts


def _is_on_pattern() -> ColumnElement[bool]:
    return and_(
        feedback.c.project_id == patterns.c.project_id,
        feedback.c.subject == "pattern",
        feedback.c.name == patterns.c.slug,
    )


def drop_unobserved(connection: Connection, pattern_ids: Collection[int]) -> list[str]:
    """Delete patterns that no outcome names, with their history; return their slugs."""
    ids = sorted(pattern_ids)
    dropped: list[str] = []
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        held = set(
            connection.execute(
                select(observations.c.pattern_id)
                .where(observations.c.pattern_id.in_(some))
                .distinct()
            ).scalars()
        )
        gone = [each for each in some if each not in held]
        slugs = select(patterns.c.slug).where(patterns.c.id.in_(gone))
        dropped += connection.execute(slugs).scalars()
        for table in (pattern_transitions, pattern_decisions, pattern_tags):
            connection.execute(delete(table).where(table.c.pattern_id.in_(gone)))
        connection.execute(delete(pattern_speakers).where(pattern_speakers.c.pattern_id.in_(gone)))
        connection.execute(delete(patterns).where(patterns.c.id.in_(gone)))
    return dropped
