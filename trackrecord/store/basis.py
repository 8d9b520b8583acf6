"""The landmark and half-life that every stored sum is relative to."""

from sqlalchemy import Connection, insert, select, update

from ..learning.decay import DecayBasis
from .bulk import insert_rows
from .tables import decay_basis, patterns

_ROW = 1


def read_basis(connection: Connection) -> DecayBasis | None:
    """The basis of the stored sums, None before the first outcome."""
    row = connection.execute(
        select(decay_basis.c.half_life_days, decay_basis.c.landmark)
    ).one_or_none()
    return DecayBasis(row.half_life_days, row.landmark) if row else None


def basis_for_writing(connection: Connection, half_life_days: float, now: float) -> DecayBasis:
    """The basis to add sums against; made at the first outcome, moved on when floats run short.

    It is held until the transaction ends, so that no other worker moves it meanwhile. The
    half-life is that of the stored sums: a changed setting takes effect with a rebuild.
    """
    query = select(decay_basis.c.half_life_days, decay_basis.c.landmark)
    row = connection.execute(query.with_for_update(read=True)).one_or_none()
    if row is None:
        insert_rows(connection, decay_basis, tuple(decay_basis.c), [(_ROW, half_life_days, now)])
        row = connection.execute(query.with_for_update(read=True)).one()
    basis = DecayBasis(row.half_life_days, row.landmark)
    return _moved(connection, now) if basis.is_due_for_rebase(now) else basis


def replace_basis(connection: Connection, basis: DecayBasis) -> None:
    """Set the basis; every stored sum must be computed anew in the same transaction."""
    connection.execute(decay_basis.delete())
    connection.execute(
        insert(decay_basis).values(
            id=_ROW, half_life_days=basis.half_life_days, landmark=basis.landmark
        )
    )


def _moved(connection: Connection, now: float) -> DecayBasis:
    row = connection.execute(
        select(decay_basis.c.half_life_days, decay_basis.c.landmark).with_for_update()
    ).one()
    old = DecayBasis(row.half_life_days, row.landmark)
    if not old.is_due_for_rebase(now):
        return old  # another worker was first
    factor = old.value(1.0, now)
    connection.execute(
        update(patterns).values(
            helpful_sum=patterns.c.helpful_sum * factor,
            harmful_sum=patterns.c.harmful_sum * factor,
        )
    )
    connection.execute(update(decay_basis).values(landmark=now))
    return DecayBasis(old.half_life_days, now)
