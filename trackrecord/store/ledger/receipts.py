"""Receipts: the rows that a report added, as one small body that can be taken back.

A receipt is there as long as what it says counts, and no longer.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import chain
from typing import Any, Final

import msgspec
from sqlalchemy import ColumnElement, Connection, and_, delete, or_, select

from ..database.engine import dialect_of
from ..database.parts import in_parts
from . import subjects
from .subjects import subject_of
from .tables import receipts

OUTCOME, FEEDBACK, REMOVED = 0, 1, 2
_STREAMED: Final = 200
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[int | float]).decode
# The item, the cell, how many, what they weigh together when the last of them ended, and how many
# seconds before the moment of the receipt that was.
Counted = tuple[int, int, int, float, float]


class LedgerReceipt(msgspec.Struct, frozen=True, gc=False):
    """The addition by one report, or by several that were removed.

    Attributes:
        ended_at: when the last of them ended.
        kind: OUTCOME, FEEDBACK or REMOVED.
        number: the row of the outcome or of the feedback; the speaker of removed outcomes.
        speaker: whose word it is, by the number of its item.
        rows: what was added.
    """

    ended_at: float
    kind: int
    number: int
    speaker: int
    rows: tuple[Counted, ...]

    def as_row(self, project_id: int) -> tuple[Any, ...]:
        """Return the values of the table's columns."""
        return project_id, self.ended_at, self.kind, self.number, pack(self.speaker, self.rows)


def pack(speaker: int, rows: Iterable[Counted]) -> bytes:
    """Return the body of a receipt."""
    return _encode([speaker, *chain.from_iterable(rows)])


def unpack(body: bytes) -> tuple[int, tuple[Counted, ...]]:
    """Return the speaker and the rows of a receipt's body.

    Raises:
        ValueError: it is none.
    """
    speaker, *flat = _decode(body)
    fields = iter(flat)
    rows = tuple(zip(fields, fields, fields, fields, fields, strict=True))
    return speaker, rows  # type: ignore[return-value] # all but what they weigh are whole numbers


def check_rows(body: bytes) -> None:
    """Check a receipt's body that may come from anybody.

    Raises:
        ValueError: it does not say what reports can have added.
    """
    speaker, rows = unpack(body)
    known = {subject.number for subject in subjects.SUBJECTS}
    for item, cell, n, value, before in rows:
        if not all(isinstance(each, int) for each in (speaker, item, cell, n)):
            message = "not a whole number"
        elif subject_of(cell) not in known or n < 1:
            message = "nothing that is counted"
        elif before >= 0 and 0 <= value <= n:
            continue
        else:
            message = "not what reports weigh"
        raise ValueError(message)


def _receipt(row: Any) -> LedgerReceipt:  # noqa: ANN401 - a row of the table
    return LedgerReceipt(row.ended_at, row.kind, row.number, *unpack(row.rows))


def read_receipts(
    connection: Connection, project_id: int, *where: ColumnElement[bool]
) -> Iterator[LedgerReceipt]:
    """Yield receipts of a project, those first that ended last."""
    table = receipts.c
    query = (
        select(receipts)
        .where(table.project_id == project_id, *where)
        .order_by(table.ended_at.desc())
        .execution_options(yield_per=_STREAMED)
    )
    # Who asks may have seen enough before the last one.
    with closing(connection.execute(query)) as found:
        yield from map(_receipt, found)


def naming(connection: Connection, items: Collection[int]) -> ColumnElement[bool]:
    """Return the condition that a receipt may have a row of one of a few items.

    A number below 65,536 is so short that other numbers hold it, too: look inside.
    """
    holds = dialect_of(connection).holds_bytes
    return or_(*(holds(receipts.c.rows, _encode(item)) for item in items))


def of_records(kind: int, keys: Sequence[tuple[float, int]]) -> Iterator[ColumnElement[bool]]:
    """Yield conditions for the receipts of reports by when they ended, and their rows."""
    table = receipts.c
    for some in in_parts(sorted(keys)):
        yield and_(
            table.kind == kind,
            table.ended_at.between(some[0][0], some[-1][0]),
            table.number.in_([number for _, number in some]),
        )


def of_removed(speaker: int) -> ColumnElement[bool]:
    """Return the condition for what removed outcomes of a speaker count."""
    return and_(receipts.c.kind == REMOVED, receipts.c.number == speaker)


def taken(
    connection: Connection, project_id: int, conditions: Iterable[ColumnElement[bool]]
) -> Iterator[LedgerReceipt]:
    """Delete receipts of a project; yield them."""
    for where in conditions:
        yield from list(read_receipts(connection, project_id, where))
        connection.execute(delete(receipts).where(receipts.c.project_id == project_id, where))
