"""The state of the loop, as far as the store knows."""

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from ..competences.tables import consolidation_runs, signatures
from ..outcomes.projects import ProjectCounts, count_outcomes
from ..outcomes.tables import outcomes, waiting_episodes


@dataclass(frozen=True)
class StoreStatus:
    """The counts and times of the store.

    Attributes:
        counts: outcomes, successes, and outcomes without a verdict.
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
    """Return the store's part of the status, of one project or of all (None)."""
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


def unconsolidated_since(connection: Connection) -> float | None:
    """Since when, at the longest, a project's episodes have been waiting for a run.

    For each project with waiting episodes that is when its last finished run ended, or, before its
    first one, when the oldest of them was received. None when no episode waits.
    """
    oldest = (
        select(waiting_episodes.c.project_id, func.min(outcomes.c.received_at).label("at"))
        .join(outcomes, outcomes.c.id == waiting_episodes.c.outcome)
        .group_by(waiting_episodes.c.project_id)
        .subquery()
    )
    runs = consolidation_runs.c
    last = (
        select(runs.project_id, func.max(runs.finished_at).label("at"))
        .group_by(runs.project_id)
        .subquery()
    )
    return connection.execute(
        select(func.min(func.coalesce(last.c.at, oldest.c.at))).select_from(
            oldest.outerjoin(last, last.c.project_id == oldest.c.project_id)
        )
    ).scalar()
