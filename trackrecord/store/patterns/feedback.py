"""Feedback on patterns: counted as soon as an outcome has named them."""

from collections.abc import Iterable, Mapping
from typing import Final

from sqlalchemy import Connection, select

from trackrecord.learning.numbers.decay import DecayBasis
from trackrecord.learning.numbers.speaker_names import speaker_named
from trackrecord.learning.outcomes.scoring import Verdict

from ..outcomes.feedback.feedback import note_counted, waiting_feedback
from .sums import PatternDelta, PatternKey, PatternRow, add_sums
from .tables import patterns

_AT_ONCE: Final = 500


def count_feedback(
    connection: Connection, project_id: int, slugs: Iterable[str], basis: DecayBasis
) -> Mapping[PatternKey, PatternRow]:
    """Add the feedback that waits for patterns to their sums, where they are on record.

    Args:
        connection: within a writing transaction that holds the basis.
        project_id: whose patterns.
        slugs: which ones.
        basis: what the project's sums are relative to.

    Returns:
        The patterns that changed, as they then are.
    """
    waiting = waiting_feedback(connection, project_id, "pattern", slugs)
    if not waiting:
        return {}
    deltas = _known(connection, project_id, {row.name for row in waiting})
    counted = [row for row in waiting if (project_id, row.name) in deltas]
    for row in counted:
        delta = deltas[project_id, row.name]
        delta.add_feedback(
            Verdict(row.verdict),
            basis.weight(row.given_at),
            row.given_at,
            speaker_named(row.source),
        )
    note_counted(connection, counted)
    return add_sums(connection, deltas)


def _known(
    connection: Connection, project_id: int, slugs: Iterable[str]
) -> dict[PatternKey, PatternDelta]:
    """Return what adds nothing to each pattern that is on record, spelled as it is."""
    wanted = sorted(slugs)
    found: dict[PatternKey, PatternDelta] = {}
    for start in range(0, len(wanted), _AT_ONCE):
        query = select(patterns.c.slug, patterns.c.kind, patterns.c.content).where(
            patterns.c.project_id == project_id,
            patterns.c.slug.in_(wanted[start : start + _AT_ONCE]),
        )
        for row in connection.execute(query):
            found[project_id, row.slug] = PatternDelta(kind=row.kind, content=row.content)
    return found
