"""Exporting a project: all of its rows as JSON Lines, as of one moment, in little memory."""

import secrets
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Final

import msgspec
from sqlalchemy import ColumnElement, Connection, LargeBinary, Select, String, Table

from trackrecord.process.version import __version__
from trackrecord.store.database.migrate import newest_revision

from .lines import VERSION, End, Header, RowWriter, header_line
from .subjects import count_of, exported_tables, rows_of

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


# Told of the table at hand, how many rows were written, and how many there are.
Report = Callable[[str, int, int], None]

_SHOWN_EVERY = 1000


def export_project(
    connection: Connection,
    project_id: int,
    project: str,
    file: BinaryIO,
    *,
    now: float,
    report: Report,
) -> dict[str, int]:
    """Write a project's rows to a file.

    Args:
        connection: a reading transaction that sees one state of the store to its end.
        project_id: the project's row.
        project: its name.
        file: where to.
        now: seconds since the epoch.
        report: told how far it has come.

    Returns:
        How many rows were written, by table.
    """
    total = sum(count_of(connection, table, project_id) for table in exported_tables())
    header = Header(
        trackrecord_export=VERSION,
        export_id=secrets.token_hex(16),
        project=project,
        exported_at=now,
        version=__version__,
        revision=newest_revision(),
    )
    file.write(header_line(header))
    written: dict[str, int] = {}
    done = 0
    for table in exported_tables():
        line_of = RowWriter(table).line
        before = done
        report(str(table.name), done, total)
        for row in streamed(connection, table, rows_of(table, project_id)):
            file.write(line_of(row))
            done += 1
            if done % _SHOWN_EVERY == 0:
                report(str(table.name), done, total)
        written[str(table.name)] = done - before
    file.write(msgspec.json.encode(End(rows=written)) + b"\n")
    report("", done, total)
    return written
