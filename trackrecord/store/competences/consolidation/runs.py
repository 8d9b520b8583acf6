"""Consolidation runs: the report that each run leaves, and runs that were not finished."""

from collections.abc import Collection, Mapping
from typing import Any

import msgspec
from sqlalchemy import BigInteger, Connection, func, insert, select, update

from ...database.leases import leases
from ...outcomes.tables import projects
from ..tables import consolidation_runs


def run_lease_name(project: str) -> str:
    """Return the name of the lease that a run of a project holds."""
    return f"consolidate:{project}"


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


def open_run(connection: Connection, project_id: int, *, actor: str, now: float) -> int:
    """Put a run on record as started; answers its row."""
    counts = {each.name: 0 for each in _REPORTED if isinstance(each.type, BigInteger)}
    statement = insert(consolidation_runs).values(
        project_id=project_id, actor=actor, started_at=now, skipped="{}", **counts
    )
    run_id: int = connection.execute(statement.returning(consolidation_runs.c.id)).scalar_one()
    return run_id


def note_run(
    connection: Connection,
    run_id: int,
    *,
    skipped: Mapping[str, int],
    columns: Mapping[str, float | None],
) -> None:
    """Note how far a run has come, in the transaction that did the work.

    Args:
        connection: within a writing transaction.
        run_id: what `open_run` answered.
        skipped: what changed no record, by reason.
        columns: the other columns that change, by name.
    """
    connection.execute(
        update(consolidation_runs)
        .where(consolidation_runs.c.id == run_id)
        .values(skipped=msgspec.json.encode(skipped).decode(), **columns)
    )


def last_finished(connection: Connection, project_ids: Collection[int]) -> dict[int, float]:
    """Return when the last run of each project ended; projects without one are missing."""
    runs = consolidation_runs.c
    last = (
        select(runs.finished_at)
        .where(runs.project_id == projects.c.id, runs.finished_at.is_not(None))
        .order_by(runs.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    query = select(projects.c.id, last).where(projects.c.id.in_(sorted(project_ids)))
    return {row[0]: row[1] for row in connection.execute(query) if row[1] is not None}


_REPORTED = tuple(each for each in consolidation_runs.c if each.name not in ("id", "project_id"))


def read_runs(connection: Connection, project_id: int) -> list[dict[str, Any]]:
    """Return the reports of a project's runs by the names of their columns, the newest first.

    Args:
        connection: a reading transaction.
        project_id: whose runs.
    """
    runs = consolidation_runs.c
    query = select(*_REPORTED).where(runs.project_id == project_id)
    rows = connection.execute(query.order_by(runs.started_at.desc(), runs.id.desc())).mappings()
    return [{**row, "skipped": msgspec.json.decode(row["skipped"])} for row in rows]
