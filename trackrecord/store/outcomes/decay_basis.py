"""The landmark and half-life that every stored sum of a project is relative to."""

import sys
from collections.abc import Iterable

from sqlalchemy import Column, ColumnElement, Connection, case, delete, literal, select, update

from trackrecord.learning.numbers.decay import DecayBasis

from ..criteria.tables import criteria
from ..database.bulk_insert import insert_rows
from .tables import decay_bases, patterns


def read_basis(connection: Connection, project_id: int) -> DecayBasis | None:
    """The basis of a project's sums, None before its first outcome."""
    query = select(decay_bases).where(decay_bases.c.project_id == project_id)
    row = connection.execute(query).one_or_none()
    return DecayBasis(row.half_life_days, row.landmark) if row else None


def bases_for_writing(
    connection: Connection, project_ids: Iterable[int], half_life_days: float, now: float
) -> dict[int, DecayBasis]:
    """What to add sums against, by project; made at the first outcome, moved when floats run short.

    It is held until the transaction ends, so that no rebuild moves it meanwhile. The half-life is
    that of the stored sums: a changed setting takes effect with a rebuild.
    """
    wanted = sorted(project_ids)
    bases = _held(connection, wanted)
    missing = [project_id for project_id in wanted if project_id not in bases]
    if missing:
        rows = [(project_id, half_life_days, now) for project_id in missing]
        insert_rows(connection, decay_bases, tuple(decay_bases.c), rows)
        bases = _held(connection, wanted)
    for project_id, basis in bases.items():
        if basis.is_due_for_rebase(now):
            bases[project_id] = _moved(connection, project_id, now)
    return bases


def hold_basis(connection: Connection, project_id: int) -> None:
    """Keep a rebuild of the project from beginning until the transaction ends."""
    _held(connection, [project_id])


def replace_basis(connection: Connection, project_id: int, basis: DecayBasis) -> None:
    """Set a project's basis; all its sums must be computed anew in the same transaction."""
    connection.execute(delete(decay_bases).where(decay_bases.c.project_id == project_id))
    row = (project_id, basis.half_life_days, basis.landmark)
    insert_rows(connection, decay_bases, tuple(decay_bases.c), [row])


def _held(connection: Connection, project_ids: list[int]) -> dict[int, DecayBasis]:
    query = (
        select(decay_bases)
        .where(decay_bases.c.project_id.in_(project_ids))
        .order_by(decay_bases.c.project_id)
        .with_for_update(read=True)
    )
    return {
        row.project_id: DecayBasis(row.half_life_days, row.landmark)
        for row in connection.execute(query)
    }


def _moved(connection: Connection, project_id: int, now: float) -> DecayBasis:
    own = decay_bases.c.project_id == project_id
    row = connection.execute(select(decay_bases).where(own).with_for_update()).one()
    old = DecayBasis(row.half_life_days, row.landmark)
    if not old.is_due_for_rebase(now):
        return old  # another worker was first
    factor = old.value(1.0, now)
    for table in (patterns, criteria):
        connection.execute(
            update(table)
            .where(table.c.project_id == project_id)
            .values(
                helpful_sum=_scaled(table.c.helpful_sum, factor),
                harmful_sum=_scaled(table.c.harmful_sum, factor),
            )
        )
    connection.execute(update(decay_bases).where(own).values(landmark=now))
    return DecayBasis(old.half_life_days, now)


def _scaled(column: Column[float], factor: float) -> ColumnElement[float]:
    """A sum times a factor below 1; what is left of the oldest ones is nothing.

    PostgreSQL takes a product that is too small for a float for an error.
    """
    if factor < sys.float_info.min:
        return literal(0.0)
    return case((column < sys.float_info.min / factor, 0.0), else_=column * factor)
