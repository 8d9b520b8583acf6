"""The exposures of a project: the entries that tasks were given, or that were withheld."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, Row, select

from trackrecord.learning.advice import entry_ids
from trackrecord.learning.advice.effect.trials import Exposure
from trackrecord.wire.exposure import ExposureBody

from ..database.upsert import insert_rows
from ..memories.recall import PromptRecall
from .tables import exposures

_COLUMNS = tuple(column for column in exposures.c if column.name != "id")
_READ_AT_ONCE: Final = 2000
_entries = msgspec.json.Decoder(tuple[str, ...])


@dataclass(frozen=True)
class ReceivedExposure:
    """An exposure as it arrived.

    Attributes:
        body: what it says.
        exposure_id: its id, or what stands for a missing one.
        received_at: when it arrived, seconds since the epoch.
    """

    body: ExposureBody
    exposure_id: str
    received_at: float


def record_exposures(
    connection: Connection,
    project_ids: Mapping[str, int],
    received: Iterable[ReceivedExposure],
) -> None:
    """Record exposures; those that are on record already change nothing.

    Args:
        connection: within a writing transaction.
        project_ids: the rows of their projects.
        received: in any order.
    """
    rows = [
        (
            project_ids[each.body.project],
            each.exposure_id,
            each.body.task_id,
            # A clock that is ahead cannot put an exposure behind its task's outcome.
            each.received_at if each.body.at is None else min(each.body.at, each.received_at),
            each.received_at,
            each.body.withheld,
            each.body.holdout,
            each.body.propensity,
            each.body.revision,
            msgspec.json.encode(each.body.entries).decode(),
        )
        for each in received
    ]
    insert_rows(connection, exposures, _COLUMNS, sorted(rows, key=lambda row: row[:2]))


def are_more_exposures(connection: Connection, project_id: int, than: int) -> bool:
    """Return whether a project has more exposures than a number; no more are looked at."""
    query = select(exposures.c.id).where(exposures.c.project_id == project_id).limit(1).offset(than)
    return connection.execute(query).first() is not None


def read_exposures(connection: Connection, project_id: int, *, limit: int) -> list[Exposure]:
    """Return the exposures of a project that were made last, the oldest first.

    Args:
        connection: a reading transaction.
        project_id: whose exposures.
        limit: how many to return at most.
    """
    made = exposures.c
    query = (
        select(exposures)
        .where(made.project_id == project_id)
        .order_by(made.at.desc(), made.exposure_id.desc())
        .limit(limit)
    )
    found = [_exposure(row) for row in connection.execute(query)]
    found.reverse()
    return found


def exposures_of_task(
    connection: Connection,
    project_id: int,
    task_id: str,
    *,
    until: float,
    limit: int,
    at: float | None = None,
) -> list[Exposure]:
    """Return a task's exposures, withheld ones included, the newest first.

    Args:
        connection: a reading transaction.
        project_id: whose task.
        task_id: the task.
        until: only exposures that were made by then.
        limit: how many to return at most.
        at: a past moment: only what had been received by then counts.
    """
    made = exposures.c
    query = (
        select(exposures)
        .where(made.project_id == project_id, made.task_id == task_id, made.at <= until)
        .order_by(made.at.desc(), made.exposure_id.desc())
        .limit(limit)
    )
    if at is not None:
        query = query.where(made.received_at <= at)
    return [_exposure(row) for row in connection.execute(query)]


def _exposure(row: Row[Any]) -> Exposure:
    return Exposure(
        exposure_id=row.exposure_id,
        task_id=row.task_id,
        at=row.at,
        is_withheld=row.is_withheld,
        holdout=row.holdout,
        propensity=row.propensity,
        revision=row.revision,
        entries=_entries.decode(row.entries),
    )


def memory_exposures_of_tasks(
    connection: Connection, project_id: int, memory_ids: Collection[str]
) -> list[PromptRecall]:
    """Return when tasks were given memories, by all exposures that withheld nothing."""
    made = exposures.c
    query = select(made.exposure_id, made.at, made.received_at, made.entries).where(
        made.project_id == project_id, ~made.is_withheld
    )
    names = {entry_ids.MEMORY + name: name for name in memory_ids}
    if not names:
        return []
    return [
        PromptRecall(names[entry], row.at, row.received_at, row.exposure_id)
        for row in connection.execute(query.execution_options(yield_per=_READ_AT_ONCE))
        for entry in _entries.decode(row.entries)
        if entry in names
    ]
