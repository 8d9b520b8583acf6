"""The entries that the record of an outcome is joined from, where there are several."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Final

from sqlalchemy import Connection, delete, select

from trackrecord.wire.join import OutcomeEntry

from ..database.bulk_insert import insert_rows
from .tables import outcome_entries

_AT_ONCE: Final = 500
_DIGEST_BYTES: Final = 16

Key = tuple[int, str]


def entries_of(connection: Connection, keys: Iterable[Key]) -> dict[Key, list[OutcomeEntry]]:
    """Return the entries of outcomes by project and outcome_id; nothing for those with one."""
    table = outcome_entries.c
    by_project: defaultdict[int, list[str]] = defaultdict(list)
    for project_id, outcome_id in sorted(keys):
        by_project[project_id].append(outcome_id)
    found: defaultdict[Key, list[OutcomeEntry]] = defaultdict(list)
    for project_id, ids in by_project.items():
        for start in range(0, len(ids), _AT_ONCE):
            # Those of one batch came at the same moment: their order must be that of any database.
            query = (
                select(table.outcome_id, table.body, table.received_at)
                .where(
                    table.project_id == project_id,
                    table.outcome_id.in_(ids[start : start + _AT_ONCE]),
                )
                .order_by(table.outcome_id, table.received_at, table.digest)
            )
            for outcome_id, body, received_at in connection.execute(query):
                found[project_id, outcome_id].append(OutcomeEntry(body, received_at))
    return dict(found)


def write_entries(connection: Connection, kept: Mapping[Key, Sequence[OutcomeEntry]]) -> None:
    """Replace the entries of outcomes.

    Args:
        connection: within a writing transaction that holds the outcomes' records.
        kept: the entries by project and outcome_id.
    """
    table = outcome_entries.c
    for project_id, outcome_id in sorted(kept):
        connection.execute(
            delete(outcome_entries).where(
                table.project_id == project_id, table.outcome_id == outcome_id
            )
        )
    rows = [
        (*key, blake2b(each.body, digest_size=_DIGEST_BYTES).digest(), each.received_at, each.body)
        for key, entries in sorted(kept.items())
        for each in entries
    ]
    insert_rows(connection, outcome_entries, tuple(outcome_entries.c), rows)
