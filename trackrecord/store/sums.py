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
    rows: Sequence[Mapping[str, Any]],
    *,
    key: Sequence[str],
    combine: Combine,
) -> None:
    """Insert rows; where there is one with the same key already, combine the two.

    Args:
        connection: within a writing transaction.
        table: where to.
        rows: all with the same columns; in a fixed order of the key where several writers may
            meet, so that they cannot wait for each other in a circle.
        key: the columns of a unique key.
        combine: what the columns of a row that is there become.
    """
    if not rows:
        return
    if is_sqlite(connection):
        on_sqlite = sqlite.insert(table)
        connection.execute(
            on_sqlite.on_conflict_do_update(
                index_elements=key, set_=combine(table.c, on_sqlite.excluded)
            ),
            list(rows),
        )
        return
    # One statement for all rows: the columns travel as arrays.
    names = list(rows[0])
    arrays = {name: [row[name] for row in rows] for name in names}
    on_postgresql = postgresql.insert(table).from_select(
        names,
        select(
            *(
                func.unnest(cast(bindparam(name), postgresql.ARRAY(table.c[name].type)))
                for name in names
            )
        ),
    )
    connection.execute(
        on_postgresql.on_conflict_do_update(
            index_elements=key, set_=combine(table.c, on_postgresql.excluded)
        ),
        arrays,
    )


def later(one: ColumnElement[Any], other: ColumnElement[Any]) -> ColumnElement[Any]:
    """The later of two moments, of which either may be unknown."""
    return case(
        (one.is_(None), other),
        (other.is_(None), one),
        (other > one, other),
        else_=one,
    )
