"""Rows of any table, in the order of its key, as a stream that takes little memory."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    LargeBinary,
    Select,
    String,
    Table,
    select,
    tuple_,
)

Values = tuple[Any, ...]

# A row may hold a body of megabytes: few are fetched at once where that is so.
_FETCHED: Final = 1000
_FETCHED_LONG: Final = 200
_MOST_ROWS: Final = 5000
_MOST_BYTES: Final = 8 * 1024 * 1024


def key_of(table: Table) -> tuple[Column[Any], ...]:
    """Return the columns of a table's primary key."""
    return tuple(table.primary_key.columns)


def all_rows(table: Table, after: Sequence[Any] | None = None) -> Select[Any]:
    """Return the query of all rows of a table in the order of its key.

    Args:
        table: the table.
        after: the key after which to begin; None: from the start.
    """
    key = key_of(table)
    query = select(table).order_by(*key)
    if after is None:
        return query
    if len(key) == 1:
        return query.where(key[0] > after[0])
    return query.where(tuple_(*key) > tuple_(*after, types=[column.type for column in key]))


def streamed(connection: Connection, table: Table, query: Select[Any]) -> Iterator[Values]:
    """Yield the rows of a query about a table, as many at a time as fit into memory."""
    at_once = _FETCHED_LONG if any(map(is_long, table.c)) else _FETCHED
    rows = connection.execution_options(yield_per=at_once).execute(query)
    return map(tuple, rows)


def is_long(column: ColumnElement[Any]) -> bool:
    """Return whether a column's values may be long."""
    kind = column.type
    return isinstance(kind, (String, LargeBinary)) and kind.length is None


def in_batches(table: Table, rows: Iterable[Values]) -> Iterator[list[Values]]:
    """Yield rows in lists that are limited in their number and in their size."""
    long = [place for place, column in enumerate(table.c) if is_long(column)]
    batch: list[Values] = []
    size = 0
    for row in rows:
        batch.append(row)
        for place in long:
            size += len(row[place] or "")
        if len(batch) >= _MOST_ROWS or size >= _MOST_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
