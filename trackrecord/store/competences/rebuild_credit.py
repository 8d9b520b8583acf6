"""Recompute the credit of outcomes on record."""

from collections.abc import Iterator

from sqlalchemy import Connection, delete, func, select, update

from trackrecord.errors import InvalidOutcome
from trackrecord.wire.outcome import decode_outcome
from trackrecord.wire.outcome_scorer import is_episode

from ..outcomes.tables import outcomes
from .credit import Credit, credit_competences, settle_credits, sum_credits_again
from .removed import credited_by_removed
from .tables import (
    competence_credits,
    competence_history,
    competence_numbers,
    competences,
)

_CHUNK = 2000
_SIGNATURES = 500
_FIELD = b"competence_id"


def rebuild_credit(connection: Connection, project_id: int) -> None:
    """Compute what outcomes credited to a project's records from the outcomes on record.

    A record gets nothing from outcomes that came before there was one of its id. The credits of
    removed outcomes stay.
    """
    _clear(connection, project_id)
    sum_credits_again(connection, credited_by_removed(connection, project_id))
    since = _known_since(connection, project_id)
    if not since:
        return
    for chunk in _chunks(connection, project_id):
        credit_competences(
            connection,
            (each for each in chunk if each.received_at >= since.get(each.competence_id, _NEVER)),
        )
    query = select(competences.c.signature_id).where(
        competences.c.project_id == project_id, competences.c.signature_id.is_not(None)
    )
    rows = [row for row in connection.execute(query).scalars() if row is not None]
    for start in range(0, len(rows), _SIGNATURES):
        settle_credits(connection, rows[start : start + _SIGNATURES])


_NEVER = float("inf")


def _clear(connection: Connection, project_id: int) -> None:
    connection.execute(
        delete(competence_credits).where(
            competence_credits.c.project_id == project_id, competence_credits.c.outcome > 0
        )
    )
    connection.execute(
        update(competence_numbers)
        .where(competence_numbers.c.project_id == project_id)
        .values(
            credited_successes=0,
            credited_failures=0,
            credited_latency_sum_ms=0,
            credited_latency_count=0,
            credited_last_used_at=None,
        )
    )


def _known_since(connection: Connection, project_id: int) -> dict[str, float]:
    """Return when the first record of each id was made."""
    table = competence_history.c
    query = (
        select(table.competence_id, func.min(table.at))
        .where(table.project_id == project_id)
        .group_by(table.competence_id)
    )
    return {row[0]: row[1] for row in connection.execute(query)}


def _chunks(connection: Connection, project_id: int) -> Iterator[list[Credit]]:
    table = outcomes.c
    last = 0
    while True:
        query = (
            select(
                table.id,
                table.received_at,
                table.ended_at,
                table.success,
                table.body,
                table.replaced_at,
            )
            .where(table.project_id == project_id, table.id > last, table.success.is_not(None))
            .order_by(table.id)
            .limit(_CHUNK)
        )
        rows = connection.execute(query).all()
        if not rows:
            return
        last = rows[-1].id
        read = (_credit(project_id, *row) for row in rows if _FIELD in row.body)
        yield [each for each in read if each is not None]


def _credit(
    project_id: int,
    row_id: int,
    received_at: float,
    ended_at: float,
    success: bool,
    body: bytes,
    replaced_at: float,
) -> Credit | None:
    try:
        # It was small enough when it was recorded, whatever the limit is now.
        outcome = decode_outcome(body, max_bytes=len(body))
    except InvalidOutcome:  # recorded by a version that took more
        return None
    if not outcome.competence_id:
        return None
    return Credit(
        project_id,
        outcome.competence_id,
        row_id,
        received_at,
        ended_at,
        success,
        outcome.duration_ms,
        is_episode(outcome),
        replaced_at or None,
    )
