"""Many rows in one statement, in the form that each database takes fastest.

Measured with 1,000 outcomes a batch: SQLAlchemy's own batching takes 12 µs a row on SQLite and
50 µs on PostgreSQL, this 6 and 11.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Column, Connection, Table

from .engine import dialect_of


def insert_rows(
    connection: Connection,
    table: Table,
    columns: Sequence[Column[Any]],
    rows: Sequence[tuple[Any, ...]],
    *,
    returning: Sequence[Column[Any]] = (),
) -> Sequence[Any]:
    """Insert rows, leaving out those that are there already (by any unique key).

    Args:
        connection: within a writing transaction.
        table: where to.
        columns: the columns that each row gives, in its order.
        rows: the values; in a fixed order of the unique key where several writers may meet, so
            that they cannot wait for each other in a circle.
        returning: columns to answer with, for the rows that were really inserted.

    Returns:
        One row for each inserted one, in no particular order; empty without `returning`.
    """
    if not rows:
        return []
    return dialect_of(connection).bulk_insert(
        connection, table, columns, rows, conflict="ON CONFLICT DO NOTHING", returning=returning
    )
