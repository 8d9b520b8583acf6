"""Locks: on rows that are read in order to be changed, and on names."""

from typing import Any

from sqlalchemy import Connection, Select, Table

from .engine import dialect_of


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


def shared_lock(connection: Connection, key: int) -> None:
    """Keep others from taking the key's advisory lock; any number of transactions may share it."""
    dialect_of(connection).shared_lock(connection, key)
