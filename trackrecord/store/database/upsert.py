"""Sums: rows of counts that are added to what is there already."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table, bindparam, case, cast, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.base import ReadOnlyColumnCollection
from sqlalchemy.sql.elements import ColumnElement, KeyedColumnElement

from .engine import is_sqlite

Columns = ReadOnlyColumnCollection[str, KeyedColumnElement[Any]]
# From the columns of the table and those of the new row: what each column becomes.
Combine = Callable[[Columns, Columns], Mapping[str, Any]]


def add_rows(
    connection: Connection,
    table: Table,
    columns: Sequence[str],
    rows: Sequence[tuple[Any, ...]],
    *,
    key: Sequence[str],
    combine: Combine,
) -> None:
    """Insert rows; where there is one with the same key already, combine the two.

    Args:
        connection: within a writing transaction.
        table: where to.
        columns: the names of the columns that each row gives, in its order.
        rows: the values; in a fixed order of the key where several writers may meet, so that they
            cannot wait for each other in a circle.
        key: the columns of a unique key.
        combine: what the columns of a row that is there become.
    """
    if not rows:
        return
    add = _add_on_sqlite if is_sqlite(connection) else _add_on_postgresql
    add(connection, table, columns, rows, key=key, combine=combine)


def _add_on_sqlite(
    connection: Connection,
    table: Table,
    columns: Sequence[str],
    rows: Sequence[tuple[Any, ...]],
    *,
    key: Sequence[str],
    combine: Combine,
) -> None:
    statement = sqlite.insert(table)
    statement = statement.on_conflict_do_update(
        index_elements=key, set_=combine(table.c, statement.excluded)
    )
    # Handed to the driver as they are: SQLAlchemy's own way takes twice as long for each row.
    compiled = statement.compile(dialect=connection.dialect, column_keys=list(columns))
    connection.exec_driver_sql(compiled.string, list(rows))


def _add_on_postgresql(
    connection: Connection,
    table: Table,
    columns: Sequence[str],
    rows: Sequence[tuple[Any, ...]],
    *,
    key: Sequence[str],
    combine: Combine,
) -> None:
    # One statement for all rows: the columns travel as arrays.
    arrays = [
        func.unnest(cast(bindparam(name), postgresql.ARRAY(table.c[name].type))) for name in columns
    ]
    statement = postgresql.insert(table).from_select(list(columns), select(*arrays))
    statement = statement.on_conflict_do_update(
        index_elements=key, set_=combine(table.c, statement.excluded)
    )
    compiled = statement.compile(dialect=connection.dialect)
    values = {name: [row[index] for row in rows] for index, name in enumerate(columns)}
    # As text, each value would be quoted on its own: the arrays travel in binary.
    connection.exec_driver_sql(compiled.string.replace(")s AS ", ")b AS "), values)


def later(one: ColumnElement[Any], other: ColumnElement[Any]) -> ColumnElement[Any]:
    """The later of two moments, of which either may be unknown."""
    return case(
        (one.is_(None), other),
        (other.is_(None), one),
        (other > one, other),
        else_=one,
    )
