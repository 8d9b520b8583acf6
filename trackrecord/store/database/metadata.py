"""Metadata that every table belongs to, and column types that differ by database."""

from typing import Any

from sqlalchemy import BigInteger, Column, Double, Integer, MetaData, String, Table, Text

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite gives rowids only to INTEGER keys; PostgreSQL wants 64 bits.
Id = BigInteger().with_variant(Integer, "sqlite")
# Compared by code point on both, so that the smallest of two texts is the same one everywhere.
CodePointText = Text().with_variant(Text(collation="C"), "postgresql")


def table(name: str, *items: Any) -> Table:  # noqa: ANN401 - columns, indexes and constraints
    """Return a table of the store."""
    return Table(name, metadata, *items)


def keyed_table(name: str, *items: Any) -> Table:  # noqa: ANN401 - as above
    """Return a table whose rows lie in the order of its key, without a number of their own."""
    return Table(name, metadata, *items, sqlite_with_rowid=False)


def columns(names: str, *kind: Any, **more: Any) -> list[Column[Any]]:  # noqa: ANN401 - as `Column` takes it
    """Return columns that differ in nothing but their names."""
    return [Column(name, *kind, **more) for name in names.split()]


def run_key() -> list[Column[Any]]:
    """Return the key of tables with a row for each outcome, in the order of a project's runs."""
    project, outcome = columns("project_id outcome", Id, primary_key=True, autoincrement=False)
    return [project, Column("ended_at", Double, primary_key=True), outcome]


def decision_columns() -> list[Column[Any]]:
    """Return what is on record of a decision by hand: when, which, whose and why."""
    return [
        Column("at", Double, nullable=False),
        Column("action", String(16), nullable=False),
        *columns("actor reason", Text, nullable=False),
    ]
