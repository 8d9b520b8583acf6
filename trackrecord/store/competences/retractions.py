"""Episodes of replaced records: taken from those that wait, or taken back by consolidation."""

from collections.abc import Iterator, Sequence

from sqlalchemy import Connection, delete, func, select, update

from ..database.bulk_insert import insert_rows
from ..database.row_locks import for_update
from ..outcomes.replaced import Replaced
from ..outcomes.tables import outcomes, waiting_episodes, waiting_retractions
from .episodes import EpisodeRow, bodies, stream
from .removed import removed_tally
from .tables import episodes, signatures

_AT_ONCE = 500


def retract_episodes(connection: Connection, replaced: Sequence[Replaced]) -> None:
    """Let replaced records be no episodes any more.

    One that waits is just not waited for. One that was read is noted for consolidation, which
    alone changes what it adds up.
    """
    rows = sorted((each.project_id, each.row) for each in replaced if each.outcome.is_episode)
    for start in range(0, len(rows), _AT_ONCE):
        some = rows[start : start + _AT_ONCE]
        ids = [row for _, row in some]
        table = waiting_episodes
        query = select(table.c.outcome).where(
            table.c.project_id.in_({project_id for project_id, _ in some}),
            table.c.outcome.in_(ids),
        )
        held = set(
            connection.execute(
                for_update(connection, query.order_by(table.c.outcome), table)
            ).scalars()
        )
        if held:
            connection.execute(
                delete(table).where(
                    table.c.project_id.in_({project_id for project_id, _ in some}),
                    table.c.outcome.in_(held),
                )
            )
        read = set(
            connection.execute(
                select(episodes.c.outcome).where(
                    episodes.c.project_id.in_({project_id for project_id, _ in some}),
                    episodes.c.outcome.in_(ids),
                )
            ).scalars()
        )
        insert_rows(
            connection,
            waiting_retractions,
            tuple(waiting_retractions.c),
            [each for each in some if each[1] in read],
        )


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
    for start in range(0, len(rows), _AT_ONCE):
        some = rows[start : start + _AT_ONCE]
        connection.execute(
            update(episodes)
            .where(episodes.c.project_id == project_id, episodes.c.outcome.in_(some))
            .values(retracted_at=now)
        )
        connection.execute(
            delete(waiting_retractions).where(
                waiting_retractions.c.project_id == project_id,
                waiting_retractions.c.outcome.in_(some),
            )
        )


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
