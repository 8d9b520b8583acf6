"""Upserts: rows of counts that are added to what is there already."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Column, Connection, Row, Table, case
from sqlalchemy.sql.base import ReadOnlyColumnCollection
from sqlalchemy.sql.elements import ColumnElement, KeyedColumnElement

from .engine import dialect_of

Columns = ReadOnlyColumnCollection[str, KeyedColumnElement[Any]]
# From the columns of the table and those of the new row: what each column becomes.
Combine = Callable[[Columns, Columns], Mapping[str, Any]]


def upsert_rows(
    connection: Connection,
    table: Table,
    columns: Sequence[str],
    rows: Sequence[tuple[Any, ...]],
    *,
    key: Sequence[str],
    combine: Combine,
    returning: Sequence[Column[Any]] = (),
) -> Sequence[Row[Any]]:
    """Insert rows; where there is one with the same key already, combine the two.

    Args:
        connection: within a writing transaction.
        table: where to.
        columns: the names of the columns that each row gives, in its order.
        rows: the values; in a fixed order of the key where several writers may meet, so that they
            cannot wait for each other in a circle.
        key: the columns of a unique key.
        combine: what the columns of a row that is there become; without parameters.
        returning: columns to answer with.

    Returns:
        A row for each one given, with values as the driver gives them, in no particular order;
        empty without `returning`.
    """
    if not rows:
        return []
    dialect = dialect_of(connection)
    # Inline: what it returns is said below, and is not SQLAlchemy's own choice.
    statement = dialect.insert(table).inline()
    statement = statement.on_conflict_do_update(
        index_elements=key, set_=combine(table.c, statement.excluded)
    )
    compiled = statement.compile(dialect=connection.dialect, column_keys=list(columns)).string
    return dialect.bulk_insert(
        connection,
        table,
        [table.c[name] for name in columns],
        rows,
        conflict=compiled[compiled.rindex("ON CONFLICT") :],
        returning=returning,
    )


def later(one: ColumnElement[Any], other: ColumnElement[Any]) -> ColumnElement[Any]:
    """The later of two moments, of which either may be unknown."""
    return case(
        (one.is_(None), other),
        (other.is_(None), one),
        (other > one, other),
        else_=one,
    )
