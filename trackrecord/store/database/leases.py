"""Locks of rows, and leases: who may do what only one may do at a time.

A lease ends by itself when its holder dies. Whoever holds one renews it within each transaction of
the work itself: that transaction then owns the lease's row, so that none of its work can overlap
with that of a successor.
"""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Column, Connection, Double, Select, String, Table, delete, or_, update

from .engine import dialect_of
from .metadata import table


def for_update(
    connection: Connection, query: Select[Any], table: Table, *, skip_held: bool = False
) -> Select[Any]:
    """The query, such that its rows of a table are for_update until the transaction ends.

    A transaction that only reads holds nothing. SQLite needs no holding: a writing transaction is
    alone there.

    Args:
        connection: where the query will be executed.
        query: a query that reads from the table.
        table: whose rows are for_update.
        skip_held: leave out what another transaction holds, instead of waiting for it.
    """
    if not connection.get_execution_options().get("writes", False):
        return query
    return query.with_for_update(of=table, skip_locked=skip_held)


def repeatable_read(connection: Connection) -> None:
    """Let a transaction that has read nothing yet see the store as it is now until it ends."""
    dialect_of(connection).repeatable_read(connection)


def advisory_lock(connection: Connection, key: int) -> None:
    """Serialise with other writing transactions that lock the key, until this one ends."""
    dialect_of(connection).advisory_lock(connection, key)


def shared_locks(connection: Connection, keys: Sequence[int]) -> None:
    """Keep others from taking the keys' advisory locks; any number of transactions may share."""
    dialect_of(connection).shared_locks(connection, keys)


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
