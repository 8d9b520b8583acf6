"""Consolidation runs: the report that each run leaves, and runs that were not finished."""

from collections.abc import Callable, Collection, Mapping
from typing import TypeVar

import msgspec
from sqlalchemy import Connection, func, insert, select, update

from ...database.leases import leases
from ...outcomes.tables import projects
from ..tables import consolidation_runs

_Run = TypeVar("_Run")


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
    statement = insert(consolidation_runs).values(
        project_id=project_id,
        actor=actor,
        started_at=now,
        episodes_read=0,
        signatures_touched=0,
        records_created=0,
        records_reinforced=0,
        records_updated=0,
        skipped="{}",
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


def read_runs(
    connection: Connection,
    made: Callable[..., _Run],
    project_id: int | None = None,
    *,
    limit: int | None = 10,
) -> list[_Run]:
    """Return the reports of the last runs, the newest first.

    Args:
        connection: a reading transaction.
        made: makes a report of the columns by their names.
        project_id: whose runs; None for those of all projects.
        limit: how many to return at most; None for all.
    """
    table = consolidation_runs.c
    query = (
        select(
            projects.c.name.label("project"),
            table.actor,
            table.started_at,
            table.finished_at,
            table.duration_ms,
            table.episodes_read,
            table.signatures_touched,
            table.records_created,
            table.records_reinforced,
            table.records_updated,
            table.skipped,
        )
        .join(projects, projects.c.id == table.project_id)
        .order_by(table.started_at.desc(), table.id.desc())
        .limit(limit)
    )
    if project_id is not None:
        query = query.where(table.project_id == project_id)
    return [
        made(**{**row, "skipped": msgspec.json.decode(row["skipped"])})
        for row in connection.execute(query).mappings()
    ]
