"""The sums of earlier versions: made into receipts, where a store or an export still has them.

Each outcome had a row for each pattern in `observations`, and one in `criterion_feedback` for each
criterion if it named any. Those of removed outcomes were put together by the day, with a number
below nothing.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import floor
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import Column, Connection, Row, Table, select

from trackrecord.learning.criteria.weights import MAX_NAME, feedback_value
from trackrecord.learning.numbers.decay import DAY, Bases
from trackrecord.learning.outcomes.scoring import Verdict
from trackrecord.wire.outcome import decode_outcome

from ..database.engine import dialect_of
from ..database.metadata import Id, columns
from ..database.upsert import Columns
from ..ledger.ledger import Ledger, LedgerEntry
from ..ledger.read import own_items
from ..ledger.receipts import OUTCOME, REMOVED, Counted, LedgerReceipt
from ..ledger.subjects import (
    CLAIMED,
    CRITERION,
    DAY_ITEM,
    HARMFUL,
    HELPFUL,
    NEUTRAL,
    PATTERN,
    SPEAKER_ITEM,
    VERIFIED,
    cell_in,
    cell_of,
    day_row,
)  # fmt: skip
from ..ledger.subjects import Row as Said
from ..ledger.tables import items
from ..outcomes.feedback.feedback import feedback_entries
from ..outcomes.recorded_rules import bases_of
from ..outcomes.tables import decay_bases, feedback, outcomes, projects, recorded_rules

_CHUNK: Final = 5_000
# What is on record passed the limit of its day.
_ANY_SIZE: Final = 2**31
# They may have a megabyte each.
_BODIES: Final = 200

# In an import they are there until it ends; columns that nobody reads are left out.
metadata: Final = sa.MetaData()


def _table(name: str, *parts: Any) -> Table:  # noqa: ANN401 - columns and indexes
    return Table(name, metadata, *parts, prefixes=["TEMPORARY"])


patterns: Final = _table(
    "patterns",
    Column("id", Id, primary_key=True),
    Column("project_id", sa.BigInteger, nullable=False),
    Column("slug", sa.String(160), nullable=False),
    Column("kind", sa.String(16), nullable=False),
    Column("content", sa.Text, nullable=False),
    Column("last_validated", sa.Double),
    *columns("reported_maturity decided_maturity", sa.String(16)),
    Column("reported_inverted", sa.Boolean, nullable=False),
)
criteria: Final = _table(
    "criteria",
    Column("id", Id, primary_key=True),
    Column("project_id", sa.BigInteger, nullable=False),
    Column("name", sa.String(MAX_NAME), nullable=False),
    Column("last_validated", sa.Double),
)
pattern_speakers: Final = _table("pattern_speakers", Column("speaker", sa.String(300)))
observations: Final = _table(
    "observations",
    *columns("pattern_id outcome", sa.BigInteger, nullable=False),
    Column("ended_at", sa.Double, nullable=False),
    Column("verdict", sa.String(8), nullable=False),
    Column("success", sa.Boolean, nullable=False, server_default=sa.false()),
    Column("replaced_at", sa.Double),
    Column("speaker", sa.String(300), nullable=False, server_default=""),
    Column("is_claim", sa.Boolean, nullable=False, server_default=sa.false()),
    Column("times", sa.BigInteger, nullable=False, server_default=sa.text("1")),
    Column("weight", sa.Double, nullable=False, server_default=sa.text("1")),
    sa.Index("ix_observations_outcome", "outcome"),
)
criterion_feedback: Final = _table(
    "criterion_feedback",
    *columns("criterion_id outcome", sa.BigInteger, nullable=False),
    Column("ended_at", sa.Double, nullable=False),
    Column("verdict", sa.String(8), nullable=False),
    Column("value", sa.Double, nullable=False),
    Column("replaced_at", sa.Double),
    Column("times", sa.BigInteger, nullable=False, server_default=sa.text("1")),
    sa.Index("ix_criterion_feedback_outcome", "outcome"),
)
removed_days: Final = _table(
    "removed_days",
    Column("project_id", sa.BigInteger, nullable=False),
    *columns("day ended_day outcomes successes without_verdict", sa.BigInteger, nullable=False),
)
_TAKEN: Final = {
    items.c[after]: patterns.c[before]
    for before, after in (
        ("id", "id"), ("project_id", "project_id"), ("slug", "name"), ("kind", "kind"),
        ("content", "label"), ("last_validated", "last"),
        ("reported_maturity", "reported_maturity"), ("reported_inverted", "reported_inverted"),
        ("decided_maturity", "decided_maturity"),
    )
}  # fmt: skip


def item_of(pattern: Mapping[Column[Any], Any]) -> dict[Column[Any], Any]:
    """Return a row of the patterns as the item that it is now."""
    own = {column: pattern[before] for column, before in _TAKEN.items() if before in pattern}
    return own | {items.c.subject: PATTERN}


def take_patterns(connection: Connection) -> None:
    """Make the patterns of a store items, under the same numbers."""
    taken = select(*_TAKEN.values(), sa.literal(PATTERN))
    connection.execute(sa.insert(items).from_select([*_TAKEN, items.c.subject], taken))
    dialect_of(connection).continue_numbering(connection, items)


# A row of removed outcomes: its subject and the name of the item, the cell, how many it stands for
# and what they weigh together, and when they ended.
_Removed = tuple[int, str, int, int, float, float]


def fill(connection: Connection, project_id: int | None = None) -> None:
    """Make the sums of earlier versions receipts, and add these up.

    Args:
        connection: within a writing transaction, in which patterns are items already.
        project_id: only those of this project; None for all.
    """
    own = sa.true() if project_id is None else projects.c.id == project_id
    known = {row.id: row.name for row in connection.execute(select(projects).where(own))}
    bases = {row.project_id: bases_of(row) for row in connection.execute(select(decay_bases))}
    filling = _Filling(connection, bases)
    for chunk in _chunks(connection, project_id):
        filling.add(chunk)
    filling.add_removed()
    for each in known:
        connection.execute(
            sa.update(feedback)
            .where(feedback.c.project_id == each, feedback.c.subject == "pattern")
            .values(is_waiting=False)
        )
        ledger = Ledger(connection, bases)
        ledger.add([*feedback_entries(connection, each)])
        ledger.write()
    seen = select(criteria.c.last_validated).where(
        criteria.c.project_id == items.c.project_id, criteria.c.name == items.c.name
    )
    connection.execute(
        sa.update(items)
        .where(items.c.subject == CRITERION, items.c.project_id.in_(select(criteria.c.project_id)))
        .values(last=seen.scalar_subquery())
    )
    first = select(sa.func.min(removed_days.c.day) * DAY).where(
        removed_days.c.project_id == projects.c.id
    )
    connection.execute(sa.update(projects).where(own).values(removed_from=first.scalar_subquery()))


def _chunks(connection: Connection, project_id: int | None) -> Iterator[Sequence[Row[Any]]]:
    of, last = outcomes.c, 0
    query: sa.Select[Any] = select(
        of.id, of.project_id, of.ended_at, of.success, of.raw_score, of.verdict,
        of.names_criteria, of.replaced_at,
    ).order_by(of.id).limit(_CHUNK)  # fmt: skip
    if project_id is not None:
        query = query.where(of.project_id == project_id)
    while rows := connection.execute(query.where(of.id > last)).all():
        yield rows
        last = rows[-1].id


class _Filling:
    def __init__(self, connection: Connection, bases: Mapping[int, Bases]) -> None:
        self._connection = connection
        self._bases = bases
        rules = connection.execute(select(recorded_rules.c.project_id, recorded_rules.c.rules))
        self._defaults = {
            project: tuple(json.loads(numbers).get("criteria.defaults", ()))
            for project, numbers in rules
        }
        query = select(items.c.id, items.c.project_id, items.c.name)
        self._patterns = {
            row: name for row, *name in connection.execute(query.where(own_items(None, PATTERN)))
        }
        self._ids = {(own[0], PATTERN, own[1]): row for row, own in self._patterns.items()}
        self._criteria = {row: name for row, *name, _ in connection.execute(select(criteria))}

    def add(self, chunk: Sequence[Row[Any]]) -> None:
        """Count the outcomes of some rows that follow each other."""
        said: dict[int, list[tuple[int, Said]]] = {row.id: [] for row in chunk}
        speakers: dict[int, str] = {}
        seen, told, patterns = observations.c, criterion_feedback.c, self._patterns
        verdicts = (seen.pattern_id, seen.verdict, seen.is_claim, seen.speaker)
        for outcome, pattern, verdict, is_claim, speaker in self._told(chunk, seen, *verdicts):
            if outcome in said:
                cell = cell_in(verdict) + (CLAIMED if is_claim else VERIFIED)
                said[outcome].append((PATTERN, (patterns[pattern][1], cell, 1, "", "")))
                speakers[outcome] = speaker
        values = (told.criterion_id, told.verdict, told.value)
        for outcome, criterion, verdict, value in self._told(chunk, told, *values):
            if outcome in said:
                row = (self._criteria[criterion][1], cell_in(verdict), value, "", "")
                said[outcome].append((CRITERION, row))
        for of in chunk:
            said[of.id] += self._own(of)
        ids = [row.id for row in chunk]
        for start in range(0, len(ids), _BODIES):
            some = ids[start : start + _BODIES]
            if not speakers.keys() >= set(some):
                speakers = self._speakers(some) | speakers
        entries = [
            LedgerEntry(
                row.project_id, row.ended_at, OUTCOME, row.id, speakers[row.id], said[row.id]
            )
            for row in chunk
            if not row.replaced_at
        ]
        ledger = Ledger(self._connection, self._bases)
        self._ids |= ledger.name([each for each in entries if self._has_new(each)])
        ledger.add_named(entries, self._ids)
        ledger.write()

    def _has_new(self, entry: LedgerEntry) -> bool:
        project, ids = entry.project_id, self._ids
        return (project, SPEAKER_ITEM, entry.speaker) not in ids or any(
            (project, subject, row[0]) not in ids for subject, row in entry.rows
        )

    def _told(
        self, chunk: Sequence[Row[Any]], of: Columns, *wanted: sa.ColumnElement[Any]
    ) -> Sequence[Any]:
        own = of.outcome.between(chunk[0].id, chunk[-1].id)
        query = select(of.outcome, *wanted).where(own, of.replaced_at.is_(None))
        return self._connection.execute(query).all()

    def _own(self, row: Row[Any]) -> Iterator[tuple[int, Said]]:
        defaults = self._defaults.get(row.project_id, ())
        if defaults and row.verdict is not None and not row.names_criteria:
            value = feedback_value(Verdict(row.verdict), row.raw_score)
            for name in defaults:
                yield CRITERION, (name, cell_in(row.verdict), value, "", "")
        yield DAY_ITEM, day_row(row.ended_at, row.success)

    def _speakers(self, rows: Sequence[int]) -> dict[int, str]:
        """Return who told of outcomes; their patterns tell that sooner, where they touch any."""
        own = outcomes.c.id.between(rows[0], rows[-1])
        return {
            row: decode_outcome(body, max_bytes=_ANY_SIZE).speaker
            for row, body in self._connection.execute(
                select(outcomes.c.id, outcomes.c.body).where(own)
            )
        }

    def add_removed(self) -> None:
        """Count the outcomes that were removed, which have no rows."""
        alike: defaultdict[tuple[int, str, int], list[_Removed]] = defaultdict(list)
        for project, speaker, removed in self._removed():
            alike[project, speaker, floor(removed[5] / DAY)].append(removed)
        ledger = Ledger(self._connection, self._bases)
        ids = ledger.name(
            [
                LedgerEntry(project, at, REMOVED, 0, speaker, [(subject, (name, cell, 0, "", ""))])
                for (project, speaker, _), some in alike.items()
                for subject, name, cell, _, _, at in some
            ]
        )
        for (project, speaker, _), some in alike.items():
            last = max(each[5] for each in some)
            rows: tuple[Counted, ...] = tuple(
                (ids[project, subject, name], cell_of(subject, cell), n, value, last - at)
                for subject, name, cell, n, value, at in some
            )
            by = ids[project, SPEAKER_ITEM, speaker]
            ledger.add_receipts([(project, LedgerReceipt(last, REMOVED, by, by, rows))])
        ledger.write()

    def _removed(self) -> Iterator[tuple[int, str, _Removed]]:
        for row in self._summed(observations):
            project, name = self._patterns[row.pattern_id]
            cell = cell_in(row.verdict) + (CLAIMED if row.is_claim else VERIFIED)
            yield project, row.speaker, (PATTERN, name, cell, row.times, row.weight, row.ended_at)
        for row in self._summed(criterion_feedback):
            project, name = self._criteria[row.criterion_id]
            cell = cell_in(row.verdict)
            yield project, "", (CRITERION, name, cell, row.times, row.value, row.ended_at)
        names = ("outcomes", "successes", "without_verdict")
        of = removed_days.c
        sums = [sa.cast(sa.func.sum(of[name]), sa.BigInteger).label(name) for name in names]
        key = (of.project_id, of.ended_day)
        for row in self._connection.execute(select(*key, *sums).group_by(*key)):
            failures = row.outcomes - row.successes - row.without_verdict
            counts = {HELPFUL: row.successes, NEUTRAL: row.without_verdict, HARMFUL: failures}
            for cell, n in counts.items():
                if n > 0:
                    day = (DAY_ITEM, str(row.ended_day), cell, n, 0.0, row.ended_day * DAY)
                    yield row.project_id, "", day

    def _summed(self, table: Table) -> Sequence[Row[Any]]:
        query = select(table).where(table.c.outcome < 0, table.c.replaced_at.is_(None))
        return self._connection.execute(query).all()
