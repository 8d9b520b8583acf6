"""Reading the ledger: the totals of items, by speaker, and counts over all of them."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, bindparam, func, select

from .subjects import DAY_ITEM, SPEAKER_ITEM, cell_of
from .tables import items, totals

# By the cell in its subject: how many, and their mass.
Cells = dict[int, tuple[int, float]]
_SPEAKERS: Final = select(items.c.id, items.c.name).where(
    items.c.project_id == bindparam("project"), items.c.subject == SPEAKER_ITEM
)


def own_items(project_id: int | None, subject: int) -> ColumnElement[bool]:
    """Return whether an item is of a subject, in one project or in all (None)."""
    is_subject = items.c.subject == subject
    return is_subject if project_id is None else is_subject & (items.c.project_id == project_id)


def number_of(connection: Connection, project_id: int, subject: int, name: str) -> int | None:
    """Return the number of an item; None where nothing names it."""
    query = select(items.c.id).where(own_items(project_id, subject), items.c.name == name)
    return connection.execute(query).scalar()


def read_totals(
    connection: Connection, project_id: int, subject: int, *where: ColumnElement[bool]
) -> Mapping[int, Mapping[str, Cells]]:
    """Return the totals of items by speaker.

    Args:
        connection: a transaction.
        project_id: whose items.
        subject: of which subject.
        where: which of them; all without.
    """
    names = {row.id: row.name for row in connection.execute(_SPEAKERS, {"project": project_id})}
    columns = totals.c
    query = (
        select(columns.item, columns.speaker, columns.cell, columns.n, columns.mass)
        .join(items, items.c.id == columns.item)
        .where(own_items(project_id, subject), *where)
    )
    first = cell_of(subject, 0)
    found: defaultdict[int, defaultdict[str, Cells]] = defaultdict(lambda: defaultdict(dict))
    for item, speaker, cell, n, mass in connection.execute(query).all():
        found[item][names.get(speaker, "")][cell - first] = (n, mass)
    return found


def read_counts(
    connection: Connection, project_id: int | None, subject: int, *more: ColumnElement[Any]
) -> Mapping[tuple[Any, ...], dict[int, int]]:
    """Return how many entries each item has by cell of its subject, over all speakers.

    Args:
        connection: a transaction.
        project_id: whose items; None for those of all projects.
        subject: of which subject.
        more: columns of the items that are answered beside the number.
    """
    key = (items.c.id, *more)
    counted = func.sum(totals.c.n)
    query = (
        select(*key, totals.c.cell, counted)
        .join(totals, totals.c.item == items.c.id)
        .where(own_items(project_id, subject))
        .group_by(*key, totals.c.cell)
    )
    found: defaultdict[tuple[Any, ...], dict[int, int]] = defaultdict(dict)
    for *named, cell, n in connection.execute(query):
        found[tuple(named)][cell - cell_of(subject, 0)] = int(n)
    return found


def day_counts(connection: Connection, project_id: int) -> dict[int, dict[int, int]]:
    """Return how many tasks ended on each day, by verdict."""
    found = read_counts(connection, project_id, DAY_ITEM, items.c.name)
    return {int(name): cells for (_, name), cells in found.items()}
