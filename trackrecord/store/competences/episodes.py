"""Episodes: those that wait for consolidation, those that it has read, and those taken back."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, Select, Table, delete, func, select, update

from ..database.leases import for_update
from ..database.parts import delete_named, in_parts
from ..database.upsert import insert_rows
from ..outcomes.entries import Replaced
from ..outcomes.tables import outcomes, waiting_episodes, waiting_retractions
from .removed import removed_tally
from .tables import episodes, signatures

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
    read_already = select(episodes.c.outcome).where(
        episodes.c.project_id == waits.project_id, episodes.c.outcome == waits.outcome
    )
    among_these = waits.outcome.between(read[0].outcome, read[-1].outcome)
    connection.execute(
        delete(waiting_episodes).where(
            waits.project_id == project_id, among_these, read_already.exists()
        )
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


def retract_episodes(connection: Connection, replaced: Sequence[Replaced]) -> None:
    """Let replaced records be no episodes any more.

    One that waits is just not waited for. One that was read is noted for consolidation, which
    alone changes what it adds up.
    """
    rows = sorted((each.project_id, each.row) for each in replaced if each.outcome.is_episode)
    for some in in_parts(rows):
        query = select(waiting_episodes.c.outcome).where(_among(waiting_episodes, some))
        query = query.order_by(waiting_episodes.c.outcome)
        held = connection.execute(for_update(connection, query, waiting_episodes)).all()
        if held:
            connection.execute(delete(waiting_episodes).where(_among(waiting_episodes, some)))
        read = select(episodes.c.outcome).where(_among(episodes, some))
        known = set(connection.execute(read).scalars())
        columns = tuple(waiting_retractions.c)
        insert_rows(
            connection, waiting_retractions, columns, [each for each in some if each[1] in known]
        )


def _among(table: Table, rows: Sequence[tuple[int, int]]) -> ColumnElement[bool]:
    """Return whether a row is one of these outcomes of these projects."""
    project_ids, outcome_ids = zip(*rows, strict=True)
    return table.c.project_id.in_(set(project_ids)) & table.c.outcome.in_(outcome_ids)


def waiting_to_retract(
    connection: Connection, project_id: int, *, after: int, limit: int
) -> Iterator[EpisodeRow]:
    """Yield episodes that were read and are to be taken back, in the order of their rows.

    In a writing transaction they are held until it ends.
    """
    table = waiting_retractions.c
    query = (
        bodies()
        .join(waiting_retractions, table.outcome == outcomes.c.id)
        .where(table.project_id == project_id, table.outcome > after)
        .order_by(table.outcome)
        .limit(limit)
    )
    return stream(connection, for_update(connection, query, waiting_retractions))


def mark_retracted(
    connection: Connection, project_id: int, rows: Sequence[int], now: float
) -> None:
    """Note that episodes were taken back; they wait no longer for that."""
    for some in in_parts(rows):
        connection.execute(
            update(episodes)
            .where(episodes.c.project_id == project_id, episodes.c.outcome.in_(some))
            .values(retracted_at=now)
        )
        delete_named(connection, project_id, waiting_retractions.c.outcome, some)


def use_again(connection: Connection, signature_id: int) -> None:
    """Recompute when the last episode of a signature ended, from those that still count."""
    last = (
        select(func.max(outcomes.c.ended_at))
        .join(episodes, episodes.c.outcome == outcomes.c.id)
        .where(episodes.c.signature_id == signature_id, episodes.c.retracted_at.is_(None))
    )
    removed = removed_tally(connection, signature_id)
    moments = [connection.execute(last).scalar()]
    if removed is not None:
        moments.append(removed.last_used_at)
    connection.execute(
        update(signatures)
        .where(signatures.c.id == signature_id)
        .values(last_used_at=max((each for each in moments if each is not None), default=None))
    )


def retract_replaced(connection: Connection, project_id: int, now: float) -> None:
    """Take back all episodes of replaced records at once, where a rebuild adds up all others."""
    gone = select(outcomes.c.id).where(
        outcomes.c.project_id == project_id, outcomes.c.replaced_at != 0
    )
    connection.execute(
        update(episodes)
        .where(
            episodes.c.project_id == project_id,
            episodes.c.retracted_at.is_(None),
            episodes.c.outcome.in_(gone),
        )
        .values(retracted_at=now)
    )
    connection.execute(
        delete(waiting_retractions).where(waiting_retractions.c.project_id == project_id)
    )
