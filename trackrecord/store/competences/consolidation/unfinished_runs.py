"""Consolidation runs that ended without being finished."""

from sqlalchemy import Connection, func, select

from ...database.leases import leases
from ..tables import consolidation_runs


def failed_runs(
    connection: Connection, project_id: int, *, lease: str, since: float, until: float
) -> list[float]:
    """Return when the runs started that will not be finished any more, the oldest first.

    The newest run may still be at work: it is while somebody holds the lease.

    Args:
        connection: a reading transaction.
        project_id: whose runs.
        lease: the name of the lease that a run of the project holds.
        since: only runs that started after this moment.
        until: only runs that started by this moment; the lease is looked at as of then.
    """
    runs = consolidation_runs.c
    newest = connection.execute(
        select(func.max(runs.id)).where(runs.project_id == project_id)
    ).scalar()
    is_held = connection.execute(
        select(leases.c.until).where(leases.c.name == lease, leases.c.until > until)
    ).one_or_none()
    query = (
        select(runs.started_at)
        .where(
            runs.project_id == project_id,
            runs.started_at > since,
            runs.started_at <= until,
            runs.finished_at.is_(None),
        )
        .order_by(runs.started_at)
    )
    if is_held is not None:
        query = query.where(runs.id != newest)
    return list(connection.execute(query).scalars())
