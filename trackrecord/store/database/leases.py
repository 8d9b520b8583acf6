"""Leases: who may do what only one may do at a time.

A lease ends by itself when its holder dies. Whoever holds one renews it within each transaction of
the work itself: that transaction then owns the lease's row, so that none of its work can overlap
with that of a successor.
"""

from typing import Final

from sqlalchemy import Column, Connection, Double, String, delete, or_, update

from .engine import dialect_of
from .metadata import table

# Clocks of hosts with one store hardly differ by more.
_CLOCKS_DIFFER_S: Final = 600.0
# Who may do what only one may do at a time, and until when it is believed to be alive.
leases = table(
    "leases",
    Column("name", String(160), primary_key=True),
    Column("holder", String(64), nullable=False),
    Column("until", Double, nullable=False),
)


def take_lease(
    connection: Connection, name: str, holder: str, *, now: float, seconds: float
) -> bool:
    """Take a lease unless someone else holds it; answers whether it is the holder's now.

    Args:
        connection: within a writing transaction.
        name: of what may be done by one at a time.
        holder: a name that no other holder has.
        now: the time of the clock on the wall, seconds since the epoch.
        seconds: after how long without renewal it ends.
    """
    statement = (
        dialect_of(connection).insert(leases).values(name=name, holder=holder, until=now + seconds)
    )
    taken = connection.execute(
        statement.on_conflict_do_update(
            index_elements=[leases.c.name],
            set_={"holder": statement.excluded.holder, "until": statement.excluded.until},
            # One that ends later than any could was taken before the clock was set back.
            where=or_(leases.c.until <= now, leases.c.until > now + seconds + _CLOCKS_DIFFER_S),
        ).returning(leases.c.holder)
    )
    return taken.one_or_none() is not None


def renew_lease(
    connection: Connection, name: str, holder: str, *, now: float, seconds: float
) -> bool:
    """Renew a lease; answers whether it was still the holder's."""
    renewed = connection.execute(
        update(leases)
        .where(leases.c.name == name, leases.c.holder == holder)
        .values(until=now + seconds)
    )
    return renewed.rowcount == 1


def drop_lease(connection: Connection, name: str, holder: str) -> None:
    """Give a lease back, if it is still the holder's."""
    connection.execute(delete(leases).where(leases.c.name == name, leases.c.holder == holder))
