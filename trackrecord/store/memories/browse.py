"""Memories in pages: sorted by the database, and only those that are shown are read whole."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Select, func, select

from trackrecord.learning.memories.rules import MemoryRules
from trackrecord.learning.numbers.decay import DAY

from ..database.engine import dialect_of
from .read import StoredMemory, complete
from .tables import memories
from .write import MemoryFilter, matching_memories

_Columns = Any  # those of the query
_Value = Callable[[_Columns, MemoryRules], ColumnElement[Any]]


def _clock(columns: _Columns) -> ColumnElement[Any]:
    return func.coalesce(columns.last_recalled_at, columns.created_at)


def _standing(columns: _Columns, rules: MemoryRules) -> ColumnElement[Any]:
    """In the order of effective confidence at any moment, see `standing_at_any_time`."""
    halvings = _clock(columns) / (rules.half_life_days * DAY)
    return func.ln(columns.confidence) / func.ln(2.0) + halvings


SORTED_BY: Final[Mapping[str, _Value]] = {
    "id": lambda columns, _: columns.memory_id,
    "name": lambda columns, _: columns.text,
    "type": lambda columns, _: columns.type,
    "confidence": lambda columns, _: columns.confidence,
    "effective-confidence": _standing,
    "created": lambda columns, _: columns.created_at,
    "last-seen": lambda columns, _: columns.last_recalled_at,
}


def browse_memories(
    connection: Connection,
    project_id: int,
    wanted: MemoryFilter,
    rules: MemoryRules,
    *,
    content: str | None = None,
    key: str = "created",
    is_descending: bool = True,
    first: int = 0,
    limit: int,
) -> tuple[list[StoredMemory], int]:
    """Return some memories of a project, and how many there are.

    Args:
        connection: a reading transaction.
        project_id: whose memories.
        wanted: which of them.
        rules: how confidence decays.
        content: only those that hold this text, whatever its case.
        key: what they are sorted by, one of `SORTED_BY`; those without a value come last.
        is_descending: whether the largest comes first.
        first: how many to skip.
        limit: how many to return at most.
    """
    found = matching_memories(project_id, wanted)
    stands = found.selected_columns
    value = SORTED_BY[key](stands, rules)
    if key in ("id", "name"):
        value = dialect_of(connection).by_code_point(value)
    order = (value.is_(None), value.desc() if is_descending else value, stands.id.desc())
    if content is None:
        total = connection.execute(
            select(func.count()).select_from(found.order_by(None).subquery())
        ).scalar_one()
        rows = connection.execute(found.order_by(*order).limit(limit).offset(first)).all()
        return complete(connection, rows), total
    ids = _holding(connection, found.order_by(*order), content)
    page = found.where(memories.c.id.in_(ids[first : first + limit]))
    rows = connection.execute(page.order_by(*order)).all()
    return complete(connection, rows), len(ids)


def _holding(connection: Connection, query: Select[Any], content: str) -> list[int]:
    """Return the rows of memories that contain a text; databases differ in letter case."""
    stands = query.selected_columns
    texts = query.with_only_columns(stands.id, stands.text, maintain_column_froms=True)
    sought = content.casefold()
    return [row.id for row in connection.execute(texts) if sought in row.text.casefold()]
