"""The landmark and the half-lives that every stored sum of a project is relative to."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, Row, delete, select

from trackrecord.learning.numbers.decay import Bases, HalfLives

from ..database.upsert import insert_rows
from .tables import decay_bases


def bases_of(row: Row[Any]) -> Bases:
    """Return the bases in a row of their table."""
    patterns, criteria = row.half_life_days, row.criteria_half_life_days
    return Bases(HalfLives(patterns, patterns if criteria is None else criteria), row.landmark)


def row_of(project_id: int, bases: Bases) -> tuple[object, ...]:
    """Return the row of a project's bases, its values in the order of the table."""
    half_lives = bases.half_lives
    own = None if half_lives.criteria == half_lives.patterns else half_lives.criteria
    return project_id, half_lives.patterns, bases.landmark, own


def read_bases(connection: Connection, project_id: int) -> Bases | None:
    """The bases of a project's sums, None before its first outcome."""
    query = select(decay_bases).where(decay_bases.c.project_id == project_id)
    row = connection.execute(query).one_or_none()
    return bases_of(row) if row else None


def held_bases(
    connection: Connection, project_ids: Iterable[int], *, alone: bool = False
) -> dict[int, Bases]:
    """The bases of projects that have them, held until the transaction ends.

    Others may hold them too, unless `alone`; a rebuild, which replaces them, waits.
    """
    query = (
        select(decay_bases)
        .where(decay_bases.c.project_id.in_(sorted(project_ids)))
        .order_by(decay_bases.c.project_id)
        .with_for_update(read=not alone)
    )
    return {row.project_id: bases_of(row) for row in connection.execute(query)}


def hold_bases(connection: Connection, project_id: int) -> Bases | None:
    """Keep a rebuild of the project from beginning until the transaction ends."""
    return held_bases(connection, [project_id]).get(project_id)


def replace_bases(connection: Connection, project_id: int, bases: Bases) -> None:
    """Set a project's bases; all its sums must be recomputed in the same transaction."""
    connection.execute(delete(decay_bases).where(decay_bases.c.project_id == project_id))
    row = row_of(project_id, bases)
    insert_rows(connection, decay_bases, tuple(decay_bases.c), [row])
