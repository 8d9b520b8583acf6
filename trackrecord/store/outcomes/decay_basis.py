"""The landmark and half-life that every stored sum of a project is relative to."""

from collections.abc import Iterable

from sqlalchemy import Connection, delete, select

from trackrecord.learning.numbers.decay import DecayBasis

from ..database.bulk_insert import insert_rows
from .tables import decay_bases


def read_basis(connection: Connection, project_id: int) -> DecayBasis | None:
    """The basis of a project's sums, None before its first outcome."""
    query = select(decay_bases).where(decay_bases.c.project_id == project_id)
    row = connection.execute(query).one_or_none()
    return DecayBasis(row.half_life_days, row.landmark) if row else None


def held_bases(connection: Connection, project_ids: Iterable[int]) -> dict[int, DecayBasis]:
    """The bases of projects that have one, held until the transaction ends.

    Others may hold them too; a rebuild, which replaces them, waits.
    """
    query = (
        select(decay_bases)
        .where(decay_bases.c.project_id.in_(sorted(project_ids)))
        .order_by(decay_bases.c.project_id)
        .with_for_update(read=True)
    )
    return {
        row.project_id: DecayBasis(row.half_life_days, row.landmark)
        for row in connection.execute(query)
    }


def hold_basis(connection: Connection, project_id: int) -> DecayBasis | None:
    """Keep a rebuild of the project from beginning until the transaction ends."""
    return held_bases(connection, [project_id]).get(project_id)


def replace_basis(connection: Connection, project_id: int, basis: DecayBasis) -> None:
    """Set a project's basis; all its sums must be computed anew in the same transaction."""
    connection.execute(delete(decay_bases).where(decay_bases.c.project_id == project_id))
    row = (project_id, basis.half_life_days, basis.landmark)
    insert_rows(connection, decay_bases, tuple(decay_bases.c), [row])
