"""The records of an outcome, one after the other, and the entries that they are joined from."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, Select, select

from trackrecord.wire.join import Entry

from .entries import entries_of
from .standing import outcome_stood
from .tables import outcomes


@dataclass(frozen=True)
class RunRecord:
    """One record of an outcome: what was known of it from one moment to another.

    Attributes:
        row: its row in the store.
        outcome_id: the outcome.
        task_id: the task.
        received_at: from when on it counted, seconds since the epoch.
        replaced_at: from when on another one did; None while it counts.
        ended_at: when the task ended.
        success: whether it reached its goal; None where nobody knows it.
        body: the body, as it came or as it was joined.
    """

    row: int
    outcome_id: str
    task_id: str
    received_at: float
    replaced_at: float | None
    ended_at: float
    success: bool | None
    body: bytes


def read_run_records(
    connection: Connection, project_id: int, *, limit: int, at: float | None = None
) -> Iterator[RunRecord]:
    """Yield the records of the project's outcomes that count, those received last first.

    Each outcome is there once. What a record says besides stands in its body; read on until enough
    of them are wanted, for example of one source.

    Args:
        connection: a reading transaction.
        project_id: whose outcomes.
        limit: how many to look through at most.
        at: a past moment to answer for.
    """
    query = _query(project_id).where(outcome_stood(at))
    if at is not None:
        query = query.where(outcomes.c.received_at <= at)
    ordered = query.order_by(outcomes.c.received_at.desc(), outcomes.c.id.desc()).limit(limit)
    rows = connection.execute(ordered.execution_options(yield_per=_BODIES))
    return map(_record, rows)


def read_run_history(
    connection: Connection, project_id: int, outcome_id: str, *, at: float | None = None
) -> list[RunRecord]:
    """Return the records of one outcome, the first one first; empty for an unknown outcome.

    The last one is the one that counts. Those after the first are amendments: what each changed is
    the difference to the one before.
    """
    query = _query(project_id).where(outcomes.c.outcome_id == outcome_id)
    if at is not None:
        query = query.where(outcomes.c.received_at <= at)
    rows = connection.execute(query.order_by(outcomes.c.received_at, outcomes.c.id))
    return [_record(row) for row in rows]


def read_run_entries(connection: Connection, project_id: int, outcome_id: str) -> list[Entry]:
    """Return the entries that the record of an outcome is joined from, the first one first.

    An entry that nothing of the record comes from any more is not kept. Empty for an unknown
    outcome.
    """
    kept = entries_of(connection, [(project_id, outcome_id)]).get((project_id, outcome_id))
    if kept is None:
        query = _query(project_id).where(
            outcomes.c.outcome_id == outcome_id, outcomes.c.replaced_at == 0
        )
        kept = [Entry(row.body, row.received_at) for row in connection.execute(query)]
    return sorted(kept, key=lambda entry: (entry.received_at, entry.body))


# Bodies may have a megabyte each: no more than this many are in memory at once.
_BODIES = 200


def _query(project_id: int) -> Select[Any]:
    table = outcomes.c
    return select(
        table.id, table.outcome_id, table.task_id, table.received_at, table.replaced_at,
        table.ended_at, table.success, table.body,
    ).where(table.project_id == project_id)  # fmt: skip


def _record(row: Row[Any]) -> RunRecord:
    return RunRecord(
        row.id,
        row.outcome_id,
        row.task_id,
        row.received_at,
        row.replaced_at or None,
        row.ended_at,
        row.success,
        row.body,
    )
