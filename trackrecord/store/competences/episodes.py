"""Episodes: those that wait for consolidation, and those that it has read."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Select, delete, exists, func, select, update

from ..database.bulk_insert import insert_rows
from ..database.row_locks import for_update
from ..outcomes.tables import outcomes, waiting_episodes
from .tables import episodes

# Bodies may have a megabyte each: no more than this many are in memory at once.
_BODIES = 200


class EpisodeRow(msgspec.Struct, frozen=True, gc=False):
    """A recorded outcome as consolidation reads it.

    Attributes:
        outcome: its row.
        success: whether the task reached its goal.
        ended_at: when it ended, seconds since the epoch.
        body: the outcome as it came.
    """

    outcome: int
    success: bool
    ended_at: float
    body: bytes


class ReadEpisode(msgspec.Struct, frozen=True, gc=False):
    """The result of consolidating one episode.

    Attributes:
        outcome: the outcome's row.
        signature: its signature; None when it is no procedure.
        success: whether the task reached its goal.
    """

    outcome: int
    signature: str | None
    success: bool


def last_waiting(connection: Connection, project_id: int) -> int | None:
    """The row of the last outcome of a project that waits, None when none does."""
    query = select(func.max(waiting_episodes.c.outcome))
    return connection.execute(query.where(waiting_episodes.c.project_id == project_id)).scalar()


def wait_for(connection: Connection, project_id: int, rows: Sequence[int]) -> None:
    """Let outcomes wait to be read as episodes, except those that wait or were read already.

    Args:
        connection: within a writing transaction.
        project_id: whose outcomes.
        rows: their rows; a few thousand at most.
    """
    known = {
        row
        for table in (waiting_episodes, episodes)
        for row in connection.execute(
            select(table.c.outcome).where(
                table.c.project_id == project_id, table.c.outcome.in_(rows)
            )
        ).scalars()
    }
    new = [(project_id, row) for row in rows if row not in known]
    insert_rows(connection, waiting_episodes, tuple(waiting_episodes.c), new)


def waiting(
    connection: Connection, project_id: int, *, after: int, upto: int, limit: int
) -> Iterator[EpisodeRow]:
    """Episodes that wait, in the order of their rows, beyond `after` and up to `upto`.

    In a writing transaction they are for_update until it ends; what another one holds is left out.
    """
    table = waiting_episodes.c
    query = (
        bodies()
        .join(waiting_episodes, table.outcome == outcomes.c.id)
        .where(table.project_id == project_id, table.outcome > after, table.outcome <= upto)
        .order_by(table.outcome)
        .limit(limit)
    )
    return stream(connection, for_update(connection, query, waiting_episodes, skip_held=True))


_READ = tuple(column for column in episodes.c if column.name != "retracted_at")


def mark_read(
    connection: Connection,
    project_id: int,
    read: Sequence[ReadEpisode],
    signature_ids: dict[str, int],
    now: float,
) -> None:
    """Put episodes, in the order of their rows, on record as read; they wait no longer."""
    rows = [
        (
            project_id,
            each.outcome,
            None if each.signature is None else signature_ids[each.signature],
            each.success,
            now,
        )
        for each in read
    ]
    insert_rows(connection, episodes, _READ, rows)
    waits = waiting_episodes.c
    is_read = exists().where(
        episodes.c.project_id == waits.project_id, episodes.c.outcome == waits.outcome
    )
    among_these = waits.outcome.between(read[0].outcome, read[-1].outcome)
    connection.execute(
        delete(waiting_episodes).where(waits.project_id == project_id, among_these, is_read)
    )


def read_before(
    connection: Connection, project_id: int, *, after: int, limit: int
) -> Iterator[EpisodeRow]:
    """Episodes that were read already, in the order of their rows, beyond `after`."""
    query = (
        bodies()
        .join(episodes, episodes.c.outcome == outcomes.c.id)
        .where(
            episodes.c.project_id == project_id,
            episodes.c.outcome > after,
            episodes.c.retracted_at.is_(None),
        )
        .order_by(episodes.c.outcome)
        .limit(limit)
    )
    return stream(connection, query)


def reassign(
    connection: Connection,
    project_id: int,
    read: Iterable[ReadEpisode],
    signature_ids: dict[str, int],
) -> None:
    """Note the signatures of episodes that were read again."""
    by_signature: dict[str | None, list[int]] = {}
    for each in read:
        by_signature.setdefault(each.signature, []).append(each.outcome)
    for signature, rows in by_signature.items():
        signature_id = None if signature is None else signature_ids[signature]
        connection.execute(
            update(episodes)
            .where(
                episodes.c.project_id == project_id,
                episodes.c.outcome.in_(rows),
                episodes.c.signature_id.is_distinct_from(signature_id),
            )
            .values(signature_id=signature_id)
        )


def bodies() -> Select[Any]:
    """Select outcomes as consolidation reads them."""
    return select(outcomes.c.id, outcomes.c.success, outcomes.c.ended_at, outcomes.c.body)


def stream(connection: Connection, query: Select[Any]) -> Iterator[EpisodeRow]:
    """Read what `bodies` selects, a few bodies at a time."""
    rows = connection.execute(query.execution_options(yield_per=_BODIES))
    return (EpisodeRow(*row) for row in rows)
