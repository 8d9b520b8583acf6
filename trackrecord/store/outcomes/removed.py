"""The ids of removed outcomes whose late delivery could not be told from a new outcome.

An outcome says when it ended, mostly, and one that ended in a time whose outcomes are removed is
not learnt again. One without a `timestamp` seems to have ended when it was received: the digest of
its id is kept, for as long as its project.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from sqlalchemy import Connection, select

from trackrecord.wire.outcome import decode_stored

from ..database.engine import dialect_of
from ..database.parts import in_parts
from ..database.upsert import insert_rows
from .entries import entries_of
from .tables import removed_outcomes

_DIGEST_BYTES: Final = 8


@dataclass(frozen=True, slots=True)
class RemovedRecord:
    """A record of an outcome that is to be removed.

    Attributes:
        row: its row.
        outcome_id: the outcome.
        received_at: from when on it counted.
        ended_at: when the task ended.
        replaced_at: when another record took its place; 0 where none has.
    """

    row: int
    outcome_id: str
    received_at: float
    ended_at: float
    replaced_at: float


def mark_removed(
    connection: Connection, project_id: int, records: Collection[RemovedRecord]
) -> None:
    """Keep the ids of outcomes about which a report does not say when they ended.

    Args:
        connection: within the transaction that removes them, before it does.
        project_id: whose.
        records: all records of these outcomes.
    """
    ids = {each.outcome_id for each in records}
    # A timestamp in the future counts as none.
    marked = {each.outcome_id for each in records if each.ended_at >= each.received_at}
    entries = entries_of(connection, ((project_id, each) for each in ids - marked))
    marked |= {
        outcome_id
        for (_, outcome_id), some in entries.items()
        if any(decode_stored(body).timestamp is None for body, _ in some)
    }
    rows = [(project_id, digest) for digest in sorted(map(_digest, marked))]
    insert_rows(connection, removed_outcomes, tuple(removed_outcomes.c), rows)


def removed_among(
    connection: Connection, project_id: int, outcome_ids: Iterable[str]
) -> frozenset[str]:
    """Return which of some outcomes of a project were removed, of those whose ids are kept."""
    table = removed_outcomes.c
    own = select(table.digest).where(table.project_id == project_id)
    # Nearly all outcomes say when they ended.
    if connection.execute(own.limit(1)).first() is None:
        return frozenset()
    by_digest = {_digest(each): each for each in outcome_ids}
    is_among = dialect_of(connection).is_among
    return frozenset(
        by_digest[found]
        for some in in_parts(by_digest)
        for found in connection.execute(own.where(is_among(table.digest, some))).scalars()
    )


def _digest(outcome_id: str) -> int:
    given = outcome_id.encode(errors="surrogatepass")
    return int.from_bytes(blake2b(given, digest_size=_DIGEST_BYTES).digest(), signed=True)
