"""Many rows in one statement, in the form that each database takes fastest.

Measured with 1,000 outcomes a batch: SQLAlchemy's own batching takes 12 µs a row on SQLite and
50 µs on PostgreSQL, this 6 and 11. On PostgreSQL the columns travel as binary arrays.
"""

from collections.abc import Sequence
from itertools import chain
from typing import Any

from sqlalchemy import Column, Connection, Table

from .engine import is_sqlite

# SQLite builds allow 32,766 parameters in a statement, or more.
_MOST_PARAMETERS = 32_000


def insert_rows(
    connection: Connection,
    table: Table,
    columns: Sequence[Column[Any]],
    rows: Sequence[tuple[Any, ...]],
    *,
    returning: Sequence[Column[Any]] = (),
) -> list[tuple[Any, ...]]:
    """Insert rows, leaving out those that are there already (by any unique key).

    Args:
        connection: within a writing transaction.
        table: where to.
        columns: the columns that each row gives, in its order.
        rows: the values; in a fixed order of the unique key where several writers may meet, so
            that they cannot wait for each other in a circle.
        returning: columns to answer with, for the rows that were really inserted.

    Returns:
        One tuple for each inserted row, in no particular order; empty without `returning`.
    """
    if not rows:
        return []
    insert = _insert_on_sqlite if is_sqlite(connection) else _insert_on_postgresql
    names = ", ".join(column.name for column in columns)
    tail = "ON CONFLICT DO NOTHING"
    if returning:
        tail += " RETURNING " + ", ".join(column.name for column in returning)
    head = f"INSERT INTO {table.name} ({names})"
    return insert(connection, head, tail, columns, rows, fetch=bool(returning))


def _insert_on_sqlite(
    connection: Connection,
    head: str,
    tail: str,
    columns: Sequence[Column[Any]],
    rows: Sequence[tuple[Any, ...]],
    *,
    fetch: bool,
) -> list[tuple[Any, ...]]:
    placeholders = "(" + ", ".join("?" * len(columns)) + ")"
    if not fetch:
        statement = f"{head} VALUES {placeholders} {tail}"
        connection.exec_driver_sql(statement, list(rows))
        return []
    inserted: list[Any] = []
    step = _MOST_PARAMETERS // len(columns)
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        statement = f"{head} VALUES {', '.join([placeholders] * len(part))} {tail}"
        values = tuple(chain.from_iterable(part))
        inserted += connection.exec_driver_sql(statement, values).fetchall()
    return inserted


def _insert_on_postgresql(
    connection: Connection,
    head: str,
    tail: str,
    columns: Sequence[Column[Any]],
    rows: Sequence[tuple[Any, ...]],
    *,
    fetch: bool,
) -> list[tuple[Any, ...]]:
    types = [column.type.compile(connection.dialect) for column in columns]
    arrays = ", ".join(f"%b::{kind}[]" for kind in types)
    statement = f"{head} SELECT * FROM unnest({arrays}) {tail}"  # noqa: S608 - our own names only
    values = tuple([row[index] for row in rows] for index in range(len(columns)))
    result = connection.exec_driver_sql(statement, values)
    return list[Any](result.fetchall()) if fetch else []
