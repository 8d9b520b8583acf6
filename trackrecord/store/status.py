"""Whether the loop is alive, as far as the store knows."""

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from .competence_tables import consolidation_runs, signatures
from .projects import ProjectCounts, count_outcomes
from .tables import outcomes, waiting_episodes


@dataclass(frozen=True)
class StoreStatus:
    """What is on record.

    Attributes:
        counts: outcomes and successes.
        signatures: procedures that episodes were of.
        waiting_episodes: episodes that consolidation has not read yet.
        last_consolidation: when the last finished run ended, seconds since the epoch.
    """

    counts: ProjectCounts
    signatures: int
    waiting_episodes: int
    last_consolidation: float | None


def read_store_status(
    connection: Connection, project_id: int | None, *, at: float | None = None
) -> StoreStatus:
    """The store's part of the status, of one project or of all (None)."""
    waiting = select(func.count()).select_from(waiting_episodes)
    last = select(func.max(consolidation_runs.c.finished_at))
    known = select(func.count()).select_from(signatures)
    if project_id is not None:
        known = known.where(signatures.c.project_id == project_id)
        waiting = waiting.where(waiting_episodes.c.project_id == project_id)
        last = last.where(consolidation_runs.c.project_id == project_id)
    if at is not None:
        last = last.where(consolidation_runs.c.finished_at <= at)
    return StoreStatus(
        counts=count_outcomes(connection, project_id, at),
        signatures=connection.execute(known).scalar_one(),
        waiting_episodes=connection.execute(waiting).scalar_one(),
        last_consolidation=connection.execute(last).scalar(),
    )


def oldest_waiting_episode(connection: Connection) -> float | None:
    """When the oldest episode that no consolidation has read was received."""
    return connection.execute(
        select(func.min(outcomes.c.received_at)).join(
            waiting_episodes, waiting_episodes.c.outcome == outcomes.c.id
        )
    ).scalar()
