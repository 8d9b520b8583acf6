"""Whether the loop is alive, as far as the store knows."""

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from .competence_tables import consolidation_runs
from .projects import ProjectCounts, count_outcomes
from .tables import waiting_episodes


@dataclass(frozen=True)
class StoreStatus:
    """What is on record.

    Attributes:
        counts: outcomes and successes.
        waiting_episodes: episodes that consolidation has not read yet.
        last_consolidation: when the last finished run ended, seconds since the epoch.
    """

    counts: ProjectCounts
    waiting_episodes: int
    last_consolidation: float | None


def read_store_status(
    connection: Connection, project_id: int | None, *, at: float | None = None
) -> StoreStatus:
    """The store's part of the status, of one project or of all (None)."""
    waiting = select(func.count()).select_from(waiting_episodes)
    last = select(func.max(consolidation_runs.c.finished_at))
    if project_id is not None:
        waiting = waiting.where(waiting_episodes.c.project_id == project_id)
        last = last.where(consolidation_runs.c.project_id == project_id)
    if at is not None:
        last = last.where(consolidation_runs.c.finished_at <= at)
    return StoreStatus(
        counts=count_outcomes(connection, project_id, at),
        waiting_episodes=connection.execute(waiting).scalar_one(),
        last_consolidation=connection.execute(last).scalar(),
    )
