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
    chosen, once, given, arrays, names = [], [], [], [], []
    for index, column in enumerate(columns):
        kind = column.type.compile(connection.dialect)
        values = [row[index] for row in rows]
        # The same in every row, as a project or a moment often is: sent once. The last column
        # stays what it is, for there must be something to go through.
        if index < len(columns) - 1 and values.count(values[0]) == len(values):
            chosen.append(f"%b::{kind}")
            once.append(values[0])
        else:
            chosen.append(f"given.{column.name}")
            names.append(column.name)
            arrays.append(f"%b::{kind}[]")
            given.append(values)
    statement = (
        f"{head} SELECT {', '.join(chosen)} FROM unnest({', '.join(arrays)})"  # noqa: S608 - our own names only
        f" AS given({', '.join(names)}) {tail}"
    )
    result = connection.exec_driver_sql(statement, (*once, *given))
    return list[Any](result.fetchall()) if fetch else []
