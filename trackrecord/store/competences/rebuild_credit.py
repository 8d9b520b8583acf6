"""Recompute the credit of outcomes on record."""

from typing import Any

from sqlalchemy import Connection, Row, delete, func, select, update

from trackrecord.errors import InvalidOutcome
from trackrecord.wire.outcome import decode_stored
from trackrecord.wire.outcome_scorer import is_episode

from ..database.parts import in_parts
from ..outcomes.entries import outcomes_in_parts
from ..outcomes.tables import outcomes
from .credit import Credit, credit_competences, settle_credits, sum_credits_again
from .removed import credited_by_removed
from .tables import competence_credits, competence_history, competence_numbers, competences

_CREDITED = [each for each in competence_numbers.c if each.name.startswith("credited_")]
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
    of = outcomes.c
    wanted = of.id, of.received_at, of.ended_at, of.success, of.body, of.replaced_at
    for chunk in outcomes_in_parts(connection, project_id, *wanted, where=of.success.is_not(None)):
        read = (_credit(project_id, row) for row in chunk if _FIELD in row.body)
        known = (each for each in read if each is not None)
        credit_competences(
            connection,
            (each for each in known if each.received_at >= since.get(each.competence_id, _NEVER)),
        )
    query = select(competences.c.signature_id).where(
        competences.c.project_id == project_id, competences.c.signature_id.is_not(None)
    )
    for some in in_parts(connection.execute(query).scalars()):
        settle_credits(connection, [row for row in some if row is not None])


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
        .values({each: None if each.nullable else 0 for each in _CREDITED})
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


def _credit(project_id: int, row: Row[Any]) -> Credit | None:
    try:
        outcome = decode_stored(row.body)
    except InvalidOutcome:  # recorded by a version that took more
        return None
    if not outcome.competence_id:
        return None
    return Credit(
        project_id,
        outcome.competence_id,
        row.id,
        row.received_at,
        row.ended_at,
        row.success,
        outcome.duration_ms,
        is_episode(outcome),
        row.replaced_at or None,
    )
