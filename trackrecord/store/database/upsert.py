"""Inserts of many rows, and upserts: add rows of counts to existing ones."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Column, Connection, Row, Table, case
from sqlalchemy.sql.base import ReadOnlyColumnCollection
from sqlalchemy.sql.elements import ColumnElement, KeyedColumnElement

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


Columns = ReadOnlyColumnCollection[str, KeyedColumnElement[Any]]
# From the columns of the table and those of the new row: what each column becomes.
Combine = Callable[[Columns, Columns], Mapping[str, Any]]


@dataclass(frozen=True)
class Upsert:
    """Insert rows; where there is one with the same key already, combine the two.

    An upsert belongs into a constant: its ON CONFLICT clause, which takes a millisecond or two to
    compile, is compiled once for each kind of database and kept with it.

    Attributes:
        table: where to.
        columns: the names of the columns that each row gives, in its order.
        key: the columns of a unique key.
        combine: what the columns of a row that is there become; without parameters, and always the
            same.
        returning: columns to answer with.
    """

    table: Table
    columns: Sequence[str]
    key: Sequence[str]
    combine: Combine
    returning: Sequence[Column[Any]] = ()
    # By the name of the dialect.
    _clauses: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def execute(
        self, connection: Connection, rows: Sequence[tuple[Any, ...]]
    ) -> Sequence[Row[Any]]:
        """Insert rows, or combine them with those that are there.

        Args:
            connection: within a writing transaction.
            rows: the values; in a fixed order of the key where several writers may meet, so that
                they cannot wait for each other in a circle.

        Returns:
            A row for each one given, with values as the driver gives them, in no particular order;
            empty without `returning`.
        """
        if not rows:
            return []
        return dialect_of(connection).bulk_insert(
            connection,
            self.table,
            [self.table.c[name] for name in self.columns],
            rows,
            conflict=self._clause(connection),
            returning=self.returning,
        )

    def _clause(self, connection: Connection) -> str:
        dialect = dialect_of(connection)
        clause = self._clauses.get(dialect.name)
        if clause is None:
            # Inline: what it returns is said by the dialect, and is not SQLAlchemy's own choice.
            statement = dialect.insert(self.table).inline()
            statement = statement.on_conflict_do_update(
                index_elements=self.key, set_=self.combine(self.table.c, statement.excluded)
            )
            compiled = statement.compile(
                dialect=connection.dialect, column_keys=list(self.columns)
            ).string
            clause = self._clauses[dialect.name] = compiled[compiled.rindex("ON CONFLICT") :]
        return clause


def later(one: ColumnElement[Any], other: ColumnElement[Any]) -> ColumnElement[Any]:
    """The later of two moments, of which either may be unknown."""
    return case(
        (one.is_(None), other),
        (other.is_(None), one),
        (other > one, other),
        else_=one,
    )
