"""Competence records and their history."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, Select, and_, func, select

from trackrecord.errors import UnknownId
from trackrecord.learning.competences.record import Competence, Performance

from ..database.leases import for_update
from .credit import hold_numbers
from .tables import competence_history, competence_numbers, competences

_record = msgspec.json.Decoder(Competence)


@dataclass(frozen=True)
class HistoryEntry:
    """One change of one record.

    Attributes:
        action: what was done.
        actor: who did it.
        at: when, seconds since the epoch.
        rationale: why.
        record: the record as it was from then on; None: it was removed, or its content erased.
    """

    action: str
    actor: str
    at: float
    rationale: str
    record: Competence | None


def read_competences(connection: Connection, project_id: int) -> list[Competence]:
    """The records of a project by id, of any status.

    Their performance is everything that is known: what outcomes credited is part of it.
    """
    query = with_credit(project_id).order_by(competences.c.id)
    return [credited_record(row) for row in connection.execute(query)]


def read_competence(connection: Connection, project_id: int, competence_id: str) -> Competence:
    """One record of a project.

    Raises:
        UnknownId: the project has no such record.
    """
    return next(iter(read_named(connection, project_id, [competence_id]).values()))


def read_named(
    connection: Connection, project_id: int, ids: Sequence[str]
) -> dict[str, Competence]:
    """Records of a project by their ids, in the order in which they are named.

    Raises:
        UnknownId: the project has no such record.
    """
    query = with_credit(project_id).where(competences.c.id.in_(set(ids)))
    found = {record.id: record for record in map(credited_record, connection.execute(query))}
    for each in ids:
        if each not in found:
            raise UnknownId(_unknown(each))
    return {each: found[each] for each in ids}


def existing_ids(connection: Connection, project_id: int, ids: Sequence[str]) -> set[str]:
    """Return the ids that records of a project have, of any status."""
    query = select(competences.c.id).where(
        competences.c.project_id == project_id, competences.c.id.in_(set(ids))
    )
    return set(connection.execute(query).scalars())


def held_for_revision(
    connection: Connection, project_id: int, ids: Sequence[str]
) -> dict[str, tuple[int | None, Competence]]:
    """The signature's row and the record of each id, without credit, for_update in a fixed order.

    Raises:
        UnknownId: the project has no such record.
    """
    query = (
        select(competences.c.id, competences.c.signature_id, competences.c.record)
        .where(competences.c.project_id == project_id, competences.c.id.in_(set(ids)))
        .order_by(competences.c.id)
    )
    rows = connection.execute(for_update(connection, query, competences)).all()
    found = {row.id: (row.signature_id, _record.decode(row.record)) for row in rows}
    for each in ids:
        if each not in found:
            raise UnknownId(_unknown(each))
    hold_numbers(connection, found)
    return found


def with_credit(project_id: int) -> Select[Any]:
    """The query for records of a project, and what outcomes credited to them."""
    numbers = competence_numbers.c
    return (
        select(
            competences.c.record,
            numbers.credited_successes,
            numbers.credited_failures,
            numbers.credited_latency_sum_ms,
            numbers.credited_latency_count,
            numbers.credited_last_used_at,
        )
        .join(
            competence_numbers,
            and_(
                numbers.project_id == competences.c.project_id,
                numbers.competence_id == competences.c.id,
            ),
        )
        .where(competences.c.project_id == project_id)
    )


def credited_record(row: Row[Any]) -> Competence:
    """The record of a row of `with_credit`."""
    text: str = row[0]
    sums: list[Any] = list(row)[1:]
    record = _record.decode(text)
    if not any(sums):
        return record
    return replace(record, performance=record.performance.plus(Performance(*sums)))


def records_of(connection: Connection, signature_ids: Sequence[int]) -> dict[int, Competence]:
    """The records of signatures, by their rows; a writing transaction holds them.

    What outcomes credited is no part of them: it must not flow into what is stored.
    """
    query = select(competences.c.signature_id, competences.c.record).where(
        competences.c.signature_id.in_(signature_ids)
    )
    # Always in the same order: two that hold the same records must not wait in a circle.
    rows = connection.execute(for_update(connection, query.order_by(competences.c.id), competences))
    found = {row.signature_id: _record.decode(row.record) for row in rows}
    hold_numbers(connection, [record.id for record in found.values()])
    return found


def read_history(connection: Connection, project_id: int, competence_id: str) -> list[HistoryEntry]:
    """Every change of a record, the first one first, also when the record is gone.

    Raises:
        UnknownId: the project never had such a record.
    """
    table = competence_history.c
    query = (
        select(table.action, table.actor, table.at, table.rationale, table.snapshot)
        .where(table.project_id == project_id, table.competence_id == competence_id)
        .order_by(table.at, table.id)
    )
    entries = [
        HistoryEntry(*row[:-1], record=None if row[-1] is None else _record.decode(row[-1]))
        for row in connection.execute(query)
    ]
    if not entries:
        raise UnknownId(_unknown(competence_id))
    return entries


def count_competences(connection: Connection, project_id: int | None) -> int:
    """Return how many records a project has, or all have (None)."""
    query = select(func.count()).select_from(competences)
    if project_id is not None:
        query = query.where(competences.c.project_id == project_id)
    return connection.execute(query).scalar_one()


def _unknown(competence_id: str) -> str:
    return f"there is no competence {competence_id!r} in this project"
