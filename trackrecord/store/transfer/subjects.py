"""The role of tables in a transfer: those of one store alone, and those derived from others.

All else is read from the metadata, so that a new table is exported and imported without a
line here, if it has a `project_id` or refers to a table that has one.
"""

from typing import Any, Final

from sqlalchemy import BigInteger, Column, Connection, Select, Table, func, literal, select

from trackrecord.store.advice.tables import listed_runs, run_counts
from trackrecord.store.competences.tables import competence_credits, competence_words
from trackrecord.store.database.access_tokens import access_tokens
from trackrecord.store.database.leases import leases
from trackrecord.store.database.moves import store_moves
from trackrecord.store.intake import earlier
from trackrecord.store.intake.every_table import metadata
from trackrecord.store.ledger.tables import items, receipts, totals
from trackrecord.store.memories.tables import memories, memory_blocks, past_tasks
from trackrecord.store.outcomes.forgotten import forgettings, forgotten_ids
from trackrecord.store.outcomes.tables import feedback, outcomes, project_imports, projects

# Made again from the rows of other tables; or about the store, not about one project. Who may read
# one store may not read another one for that.
NOT_EXPORTED: Final[frozenset[Table]] = frozenset({
    access_tokens, competence_words, forgettings, forgotten_ids, leases, listed_runs,
    memory_blocks, project_imports, run_counts, store_moves, totals,
})  # fmt: skip
# Which exports of earlier versions have, and nothing reads any more.
COLUMNS_GONE: Final[dict[str, tuple[str, ...]]] = {"effect_decisions": ("entry",)}
# Tables that exports of earlier versions have.
EARLIER: Final = frozenset(earlier.metadata.tables.values())
# Made again, too. What a row is imported with until then.
MADE_AGAIN: Final[dict[Column[Any], Any]] = {
    memories.c.position: None,
    memories.c.size_class: 0,
    past_tasks.c.is_indexed: False,
}
# Where sums of removed outcomes have a number below nothing, which names no row.
SUMMED: Final = frozenset({
    competence_credits.c.outcome, earlier.observations.c.outcome,
    earlier.criterion_feedback.c.outcome,
})  # fmt: skip
# What the store that imports a project says itself.
_ITS_OWN: Final = frozenset({projects.c.id, projects.c.name, projects.c.revision})
# The tables whose rows these columns name. Tables with a row for each outcome declare no foreign
# keys, see store/ledger/tables.py.
_REFERENCES: Final = {
    "decision_id": "pattern_decisions",
    "memory": "memories",
    "outcome": "outcomes",
    "item": "items",
    "pattern_id": "items",
    "project_id": "projects",
    "signature_id": "signatures",
}


def reference_of(column: Column[Any]) -> Table | None:
    """Return the table that a column refers to; None if it is a value."""
    for key in column.foreign_keys:
        return key.column.table
    if not isinstance(column.type, BigInteger) or column.name not in _REFERENCES:
        return None
    return metadata.tables[_REFERENCES[column.name]]


def is_numbered(table: Table) -> bool:
    """Return whether the database numbers the rows of a table."""
    return "id" in table.c and isinstance(table.c.id.type, BigInteger)


def exported_columns(table: Table) -> list[Column[Any]]:
    """Return the columns of a table in an export."""
    return [
        column
        for column in table.c
        if column not in MADE_AGAIN
        and column not in _ITS_OWN
        and reference_of(column) is not projects
    ]


def exported_tables() -> list[Table]:
    """Return the tables of an export, each after those that it refers to; projects come first."""
    waiting = [table for table in metadata.sorted_tables if table not in NOT_EXPORTED]
    waiting.sort(key=lambda table: table is not projects)
    ordered: list[Table] = []
    while waiting:
        ready = next(each for each in waiting if not _referred(each) & set(waiting) - {each})
        ordered.append(ready)
        waiting.remove(ready)
    return ordered


def imported_tables() -> list[Table]:
    """Return the tables that an export may have."""
    return [*exported_tables(), *EARLIER]


def _referred(table: Table) -> set[Table]:
    # Those of receipts are in their bodies.
    named = {items, outcomes, feedback} if table is receipts else set[Table]()
    return named | {found for column in table.c if (found := reference_of(column)) is not None}


def rows_of(table: Table, project_id: int) -> Select[Any]:
    """Return the query of a project's rows of a table, in the order of the table's key.

    The table is read along its key, and no index finds the rows: databases would have to sort what
    an index finds, in memory, with every body.
    """
    key = tuple(table.primary_key.columns)
    return select(*table.c).where(_is_own(table, project_id)).order_by(*key)


def count_of(connection: Connection, table: Table, project_id: int) -> int:
    """Return the number of a project's rows of a table."""
    query = select(func.count()).select_from(table).where(_is_own(table, project_id))
    return connection.execute(query).scalar_one()


def has_rows(connection: Connection, table: Table, project_id: int) -> bool:
    """Return whether a project has rows of a table."""
    query = select(literal(1)).select_from(table).where(_is_own(table, project_id)).limit(1)
    return connection.execute(query).first() is not None


def _is_own(table: Table, project_id: int) -> Any:  # noqa: ANN401 - a condition
    if table is projects:
        return table.c.id == project_id
    first = next(iter(table.primary_key.columns))
    if "project_id" in table.c:
        column = table.c.project_id
        # A sum is found by no index.
        return column == project_id if column is first else column + 0 == project_id
    column, parent = _way_to_project(table)
    return (column + 0).in_(select(parent.c.id).where(_is_own(parent, project_id)))


def _way_to_project(table: Table) -> tuple[Column[Any], Table]:
    """Return the column that leads to a row's project, and the table that it refers to."""
    for column in table.c:
        parent = reference_of(column)
        if parent is not None and parent is not table:
            return column, parent
    message = f"{table.name} has no column that leads to a project"
    raise LookupError(message)
