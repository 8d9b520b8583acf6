"""Rows of any table, in the order of its key, as a stream that takes little memory."""

from collections.abc import Iterator
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    LargeBinary,
    Select,
    String,
    Table,
)

Values = tuple[Any, ...]

# A row may hold a body of megabytes: few are fetched at once where that is so.
_FETCHED: Final = 1000
_FETCHED_LONG: Final = 200


def streamed(connection: Connection, table: Table, query: Select[Any]) -> Iterator[Values]:
    """Yield the rows of a query about a table, as many at a time as fit into memory."""
    at_once = _FETCHED_LONG if any(map(is_long, table.c)) else _FETCHED
    rows = connection.execution_options(yield_per=at_once).execute(query)
    return map(tuple, rows)


def is_long(column: ColumnElement[Any]) -> bool:
    """Return whether a column's values may be long."""
    kind = column.type
    return isinstance(kind, (String, LargeBinary)) and kind.length is None
