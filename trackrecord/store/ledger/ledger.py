"""The verbs of the ledger: add reports, and take them back.

Whatever is counted is written here and in `upkeep.py` alone: a receipt for each report, and the
same rows in the totals. A total is a plain sum, so that reports come, are amended and go in any
order.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    bindparam,
    case,
    delete,
    literal_column,
    select,
    update,
)

from trackrecord.learning.numbers.decay import DAY, Bases
from trackrecord.wire.outcome_scorer import STRATEGY, ScoredOutcome

from ..database.parts import in_parts
from ..database.upsert import Columns, Upsert, insert_rows, later
from . import subjects
from .receipts import (
    OUTCOME,
    Counted,
    LedgerReceipt,
    naming,
    of_records,
    of_removed,
    read_receipts,
    taken,
)
from .subjects import EVERYBODY, SPEAKER_ITEM, UNSEEN, Row, cell_of, subject_of
from .tables import items, receipts, totals

# So many items are looked for in one pass over receipts.
_SOUGHT: Final = 20
_STRATEGY: Final[ColumnElement[str]] = literal_column(f"'{STRATEGY}'")
_UNNAMED: Final[ColumnElement[str]] = literal_column("''")


# A project, a subject, and a name.
ItemKey = tuple[int, int, str]


class LedgerEntry(NamedTuple):
    """A report that is to be counted.

    Attributes:
        project_id: its project.
        ended_at: when the task ended, or the feedback was given.
        kind: OUTCOME or FEEDBACK.
        number: its row.
        speaker: whose word it is.
        rows: what it adds, by the number of the subject.
    """

    project_id: int
    ended_at: float
    kind: int
    number: int
    speaker: str
    rows: Sequence[tuple[int, Row]]


def entry_of(project_id: int, row: int, outcome: ScoredOutcome) -> LedgerEntry:
    """Return an outcome that is recorded in a row as a report that is to be counted."""
    rows = [(each.number, said) for each in subjects.SUBJECTS for said in each.rows(outcome)]
    return LedgerEntry(project_id, outcome.ended_at, OUTCOME, row, outcome.speaker, rows)


def _named(table: Columns, new: Columns) -> dict[str, Any]:
    return {
        "kind": case(
            (new.kind == _STRATEGY, new.kind), (table.kind == _UNNAMED, new.kind), else_=table.kind
        ),
        # Which spelling is kept must not depend on the order of arrival: the smallest one.
        "label": case(
            (new.label == _UNNAMED, table.label),
            (table.label == _UNNAMED, new.label),
            (new.label < table.label, new.label),
            else_=table.label,
        ),
        "last": later(table.last, new.last),
    }


_NAME: Final = Upsert(
    items,
    ("project_id", "subject", "name", "kind", "label", "last"),
    key=("project_id", "subject", "name"),
    combine=_named,
    returning=(items.c.id, items.c.project_id, items.c.subject, items.c.name),
)
_ADD: Final = Upsert(
    totals,
    ("item", "speaker", "cell", "n", "mass"),
    key=("item", "speaker", "cell"),
    combine=lambda table, new: {"n": table.n + new.n, "mass": table.mass + new.mass},
)


class Ledger:
    """The changes of totals by one transaction; `write` is the last that it does.

    Args:
        connection: within a writing transaction that holds the bases.
        bases: what the sums of each project are relative to.
    """

    def __init__(self, connection: Connection, bases: Mapping[int, Bases]) -> None:
        self._connection = connection
        self._weighing = {
            (project_id, each.number): (each.basis(own), each.by_speaker)
            for project_id, own in bases.items()
            for each in subjects.SUBJECTS
        }
        self._sums: dict[tuple[int, int, int], list[float]] = {}
        # When the newest of each item's entries had ended that were added, and taken back.
        self._seen: dict[int, float] = {}
        self._lost: dict[int, dict[int, float]] = defaultdict(dict)

    def add(self, entries: Sequence[LedgerEntry]) -> None:
        """Count reports."""
        self.add_named(entries, self.name(entries))

    def add_named(
        self, entries: Iterable[LedgerEntry], ids: Mapping[tuple[int, int, str], int]
    ) -> None:
        """Count reports of items whose numbers are known, see `name`."""
        given = []
        for project_id, ended_at, kind, number, speaker, said in entries:
            counted: list[Counted] = [
                (ids[project_id, subject, row[0]], cell_of(subject, row[1]), 1, row[2], 0)
                for subject, row in said
            ]
            by = ids[project_id, SPEAKER_ITEM, speaker]
            given.append((project_id, LedgerReceipt(ended_at, kind, number, by, tuple(counted))))
        self.add_receipts(given)

    def add_receipts(self, given: Iterable[tuple[int, LedgerReceipt]]) -> None:
        """Count receipts that are not on record yet, each with its project."""
        rows = []
        for project_id, receipt in given:
            self._post(project_id, receipt, 1)
            rows.append(receipt.as_row(project_id))
        insert_rows(self._connection, receipts, tuple(receipts.c), sorted(rows))

    def name(self, entries: Iterable[LedgerEntry]) -> dict[ItemKey, int]:
        """Return the numbers of the items that reports name, known and new ones.

        The key of each is its project, its subject, and its name; a speaker is one, too.
        """
        named: dict[ItemKey, tuple[str, str, float | None]] = {}
        for project_id, ended_at, _, _, speaker, said in entries:
            named.setdefault((project_id, SPEAKER_ITEM, speaker), ("", "", None))
            for subject, (name, cell, _, label, kind) in said:
                last = None if cell_of(subject, cell) in UNSEEN else ended_at
                key = (project_id, subject, name)
                known_kind, known_label, known_last = named.get(key) or (kind, label, last)
                if kind != known_kind:
                    kind = STRATEGY if STRATEGY in (kind, known_kind) else kind or known_kind
                if label != known_label:
                    label = min(filter(None, (label, known_label)))
                if last is None or (known_last is not None and known_last > last):
                    last = known_last
                named[key] = (kind, label, last)
        # Always in the order of the key: two workers that add to the same items at once must not
        # wait for each other in a circle.
        rows = [(*key, *named[key]) for key in sorted(named)]
        found: Sequence[Any] = _NAME.execute(self._connection, rows)
        return {(row[1], row[2], row[3]): row[0] for row in found}

    def _post(self, project_id: int, receipt: LedgerReceipt, sign: int) -> None:
        weighing, sums = self._weighing, self._sums
        seen = self._seen if sign > 0 else self._lost[project_id]
        for item, cell, n, value, before in receipt.rows:
            ended_at = receipt.ended_at - before
            basis, by_speaker = weighing[project_id, subject_of(cell)]
            key = item, receipt.speaker if by_speaker else EVERYBODY, cell
            total = sums.setdefault(key, [0, 0.0])
            total[0] += sign * n
            if value:
                total[1] += sign * (value if basis is None else value * basis.weight(ended_at))
            if cell not in UNSEEN and seen.get(item, ended_at) <= ended_at:
                seen[item] = ended_at

    def post(self, project_id: int, counted: Iterable[LedgerReceipt]) -> None:
        """Count receipts that are on record, again or for the first time."""
        for receipt in counted:
            self._post(project_id, receipt, 1)

    def take_back(
        self, project_id: int, kind: int, keys: Sequence[tuple[float, int]]
    ) -> frozenset[int]:
        """Count reports no longer; return the items that they were counted for.

        Args:
            project_id: their project.
            kind: OUTCOME or FEEDBACK.
            keys: when each ended, and its row.
        """
        return self._take_back(project_id, of_records(kind, keys))

    def take_back_removed(self, project_id: int, speaker: int) -> frozenset[int]:
        """Count a speaker's removed outcomes no longer; return the items."""
        return self._take_back(project_id, [of_removed(speaker)])

    def _take_back(
        self, project_id: int, conditions: Iterable[ColumnElement[bool]]
    ) -> frozenset[int]:
        touched: set[int] = set()
        for receipt in taken(self._connection, project_id, conditions):
            self._post(project_id, receipt, -1)
            touched.update(row[0] for row in receipt.rows)
        return frozenset(touched)

    def write(self) -> None:
        """Write the totals, and when each item was last seen that lost its newest entry."""
        changed = [(*key, n, mass) for key, (n, mass) in sorted(self._sums.items()) if n or mass]
        _ADD.execute(self._connection, changed)
        lost = {item for own in self._lost.values() for item in own}
        gone = sorted({item for item, _, _, n, _ in changed if n < 0})
        for some in in_parts(gone):
            # What is left of the mass then is dust.
            of_some = totals.c.item.in_(some)
            self._connection.execute(delete(totals).where(of_some, totals.c.n <= 0))
        if lost:
            self._see_again()

    def see(self) -> None:
        """Note when items were last seen, after all their entries were posted."""
        if self._seen:
            self._connection.execute(_SEEN, [{"of": of, "at": at} for of, at in self._seen.items()])

    def _see_again(self) -> None:
        """Look for the newest entry of the items that lost theirs."""
        for project_id, lost in self._lost.items():
            stale = sorted(
                item for item, at in lost.items() if self._seen.get(item, float("-inf")) < at
            )
            for some in in_parts(stale, _SOUGHT):
                known = select(items.c.id, items.c.last).where(items.c.id.in_(some))
                sought = {
                    row.id
                    for row in self._connection.execute(known)
                    if row.last is not None and row.last <= lost[row.id]
                }
                found = _last_seen(self._connection, project_id, sought)
                if sought:
                    self._connection.execute(
                        _SEEN, [{"of": item, "at": found.get(item)} for item in sorted(sought)]
                    )


_SEEN: Final = update(items).where(items.c.id == bindparam("of")).values(last=bindparam("at"))


def _last_seen(connection: Connection, project_id: int, sought: set[int]) -> dict[int, float]:
    held = select(totals.c.item).where(totals.c.item.in_(sought)).distinct()
    left = set(connection.execute(held).scalars())
    found: dict[int, float] = {}
    if not left:
        return found
    for receipt in read_receipts(connection, project_id, naming(connection, left)):
        for item, cell, _, _, before in receipt.rows:
            if item in left and cell not in UNSEEN:
                ended_at = receipt.ended_at - before
                found[item] = max(ended_at, found.get(item, ended_at))
        # Of removed outcomes rows ended earlier than the receipt.
        left -= {item for item, at in found.items() if at >= receipt.ended_at - DAY}
        if not left:
            break
    return found
