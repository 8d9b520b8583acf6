"""The upkeep of the ledger: fold what is removed, add up, rebase, drop what nothing counts for."""

import sys
from collections import defaultdict
from collections.abc import Collection, Sequence
from math import fsum

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    and_,
    case,
    delete,
    exists,
    literal,
    select,
    update,
)

from trackrecord.learning.numbers.decay import DAY, Bases, decayed

from ..database.parts import in_parts
from ..database.upsert import insert_rows
from . import subjects
from .ledger import Ledger
from .read import own_items
from .receipts import (
    OUTCOME,
    REMOVED,
    LedgerReceipt,
    naming,
    of_records,
    of_removed,
    read_receipts,
    taken,
)
from .subjects import cell_of, subject_of
from .tables import items, receipts, totals


def fold(
    connection: Connection, project_id: int, bases: Bases, keys: Sequence[tuple[float, int]]
) -> None:
    """Put the receipts of outcomes that are removed together, by the speaker and the day.

    Args:
        connection: within the transaction that removes them.
        project_id: their project.
        bases: what its sums are relative to.
        keys: when each ended, and its row.
    """
    alike: defaultdict[tuple[int, float], list[LedgerReceipt]] = defaultdict(list)
    for receipt in taken(connection, project_id, of_records(OUTCOME, keys)):
        alike[receipt.speaker, receipt.ended_at // DAY].append(receipt)
    table = receipts.c
    known = [
        and_(of_removed(speaker), table.ended_at >= day * DAY, table.ended_at < (day + 1) * DAY)
        for speaker, day in alike
    ]
    for receipt in taken(connection, project_id, known):
        alike[receipt.speaker, receipt.ended_at // DAY].append(receipt)
    rows = [
        _folded(speaker, some, bases).as_row(project_id) for (speaker, _), some in alike.items()
    ]
    insert_rows(connection, receipts, tuple(receipts.c), sorted(rows))


def _folded(speaker: int, some: Sequence[LedgerReceipt], bases: Bases) -> LedgerReceipt:
    alike: defaultdict[tuple[int, int], list[tuple[int, float, float]]] = defaultdict(list)
    for each in some:
        for item, cell, n, value, before in each.rows:
            alike[item, cell].append((n, value, each.ended_at - before))
    last = max(each.ended_at for each in some)
    half_lives = {each.number: each.basis(bases) for each in subjects.SUBJECTS}
    rows = []
    for (item, cell), counted in sorted(alike.items()):
        newest = max(at for _, _, at in counted)
        basis = half_lives[subject_of(cell)]
        value = fsum(
            value if basis is None else decayed(value, newest - at, basis.half_life_days)
            for _, value, at in counted
        )
        rows.append((item, cell, sum(n for n, _, _ in counted), value, last - newest))
    return LedgerReceipt(last, REMOVED, speaker, speaker, tuple(rows))


def add_up(connection: Connection, project_id: int, bases: Bases) -> None:
    """Add all receipts of a project up again."""
    own = items.c.project_id == project_id
    connection.execute(delete(totals).where(totals.c.item.in_(select(items.c.id).where(own))))
    connection.execute(update(items).where(own).values(last=None))
    ledger = Ledger(connection, {project_id: bases})
    ledger.post(project_id, read_receipts(connection, project_id))
    ledger.write()
    ledger.see()


def rebase(connection: Connection, project_id: int, old: Bases, landmark: float) -> None:
    """Make the totals of a project relative to a later landmark.

    Args:
        connection: within the transaction that moves it.
        project_id: whose.
        old: what they were relative to.
        landmark: seconds since the epoch.
    """
    for subject in subjects.SUBJECTS:
        basis = subject.basis(old)
        if basis is None:
            continue
        own = select(items.c.id).where(own_items(project_id, subject.number))
        connection.execute(
            update(totals)
            .where(totals.c.item.in_(own))
            .values(mass=_scaled(totals.c.mass, basis.value(1.0, landmark)))
        )


def _scaled(column: Column[float], factor: float) -> ColumnElement[float]:
    """Return a sum times a factor below 1; tiny sums become zero.

    PostgreSQL takes a product that is too small for a float for an error.
    """
    if factor < sys.float_info.min:
        return literal(0.0)
    return case((column < sys.float_info.min / factor, 0.0), else_=column * factor)


def without_totals(
    connection: Connection, among: Collection[int], *, told_counts: bool = True
) -> list[int]:
    """Return those of some items that nothing counts for.

    Args:
        connection: a transaction.
        among: their numbers.
        told_counts: whether feedback alone counts.
    """
    found: list[int] = []
    for some in in_parts(sorted(among)):
        named = items.c.id.in_(some)
        counted = exists().where(totals.c.item == items.c.id) if told_counts else is_counted()
        found += connection.execute(select(items.c.id).where(named, ~counted)).scalars()
    return found


def is_counted() -> ColumnElement[bool]:
    """Return whether an outcome counts for an item, and not only feedback."""
    grade = totals.c.cell - items.c.subject * cell_of(1, 0)
    return exists().where(totals.c.item == items.c.id, grade < subjects.TOLD)


def unheard(connection: Connection, project_id: int, speakers: Collection[int]) -> list[int]:
    """Return those of some speakers who told nothing that counts."""
    # Most have totals. Of whoever told of tasks alone, the receipts say it.
    query = select(totals.c.speaker).join(items, items.c.id == totals.c.item).distinct()
    summed = set(connection.execute(query.where(items.c.project_id == project_id)).scalars())
    return [
        speaker
        for speaker in sorted(set(speakers) - summed)
        if not any(
            receipt.speaker == speaker
            for receipt in read_receipts(connection, project_id, naming(connection, [speaker]))
        )
    ]


def drop_items(connection: Connection, gone: Sequence[int]) -> None:
    """Delete items that nothing counts for."""
    for some in in_parts(gone):
        connection.execute(delete(items).where(items.c.id.in_(some)))
