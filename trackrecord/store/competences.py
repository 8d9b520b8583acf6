"""Competence records: what is on record now, and what was at a past moment."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from sqlalchemy import Connection, func, select

from ..errors import UnknownId
from ..learning.records import Competence
from .competence_tables import competence_history, competences, episodes, signatures
from .digests import digest_of
from .holding import held
from .tables import outcomes

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


@dataclass(frozen=True)
class Provenance:
    """The successful episodes that a record is derived from.

    Attributes:
        count: how many there are.
        outcome_ids: the first of them, in the order in which they were recorded.
    """

    count: int
    outcome_ids: tuple[str, ...]


def read_competences(
    connection: Connection, project_id: int, *, at: float | None = None
) -> list[Competence]:
    """The records of a project by id, of any status; as of a moment if one is given."""
    if at is None:
        query = (
            select(competences.c.record)
            .where(competences.c.project_id == project_id)
            .order_by(competences.c.id)
        )
        return [_record.decode(text) for text in connection.execute(query).scalars()]
    table = competence_history.c
    newest_first = func.row_number().over(
        partition_by=table.competence_id, order_by=(table.at.desc(), table.id.desc())
    )
    ranked = (
        select(table.competence_id, table.snapshot, newest_first.label("age"))
        .where(table.project_id == project_id, table.at <= at)
        .subquery()
    )
    past = (
        select(ranked.c.snapshot)
        .where(ranked.c.age == 1, ranked.c.snapshot.is_not(None))
        .order_by(ranked.c.competence_id)
    )
    return [_record.decode(text) for text in connection.execute(past).scalars()]


def read_competence(
    connection: Connection, project_id: int, competence_id: str, *, at: float | None = None
) -> Competence:
    """One record of a project; as of a moment if one is given.

    Raises:
        UnknownId: the project has, or had at that moment, no such record.
    """
    if at is None:
        text = connection.execute(
            select(competences.c.record).where(
                competences.c.project_id == project_id, competences.c.id == competence_id
            )
        ).scalar()
    else:
        table = competence_history.c
        text = connection.execute(
            select(table.snapshot)
            .where(
                table.competence_id == competence_id, table.project_id == project_id, table.at <= at
            )
            .order_by(table.at.desc(), table.id.desc())
            .limit(1)
        ).scalar()
    if text is None:
        raise UnknownId(_unknown(competence_id))
    return _record.decode(text)


def records_of(connection: Connection, signature_ids: Sequence[int]) -> dict[int, Competence]:
    """The records of signatures, by their rows; a writing transaction holds them."""
    query = select(competences.c.signature_id, competences.c.record).where(
        competences.c.signature_id.in_(signature_ids)
    )
    # Always in the same order: two that hold the same records must not wait in a circle.
    rows = connection.execute(held(connection, query.order_by(competences.c.id), competences))
    return {row.signature_id: _record.decode(row.record) for row in rows}


def read_history(
    connection: Connection, project_id: int, competence_id: str, *, at: float | None = None
) -> list[HistoryEntry]:
    """Every change of a record, the first one first, also when the record is gone.

    Raises:
        UnknownId: the project never had such a record, or not yet at that moment.
    """
    table = competence_history.c
    query = (
        select(table.action, table.actor, table.at, table.rationale, table.snapshot)
        .where(table.project_id == project_id, table.competence_id == competence_id)
        .order_by(table.at, table.id)
    )
    if at is not None:
        query = query.where(table.at <= at)
    entries = [
        HistoryEntry(*row[:-1], record=None if row[-1] is None else _record.decode(row[-1]))
        for row in connection.execute(query)
    ]
    if not entries:
        raise UnknownId(_unknown(competence_id))
    return entries


def read_provenance(
    connection: Connection,
    project_id: int,
    signature: str,
    *,
    limit: int = 100,
    at: float | None = None,
) -> Provenance:
    """The successful episodes of a signature, as of a moment if one is given."""
    wanted = select(signatures.c.id).where(
        signatures.c.project_id == project_id, signatures.c.digest == digest_of(signature)
    )
    where = [episodes.c.signature_id == wanted.scalar_subquery(), episodes.c.success]
    if at is not None:
        where.append(episodes.c.read_at <= at)
    count = connection.execute(
        select(func.count()).select_from(episodes).where(*where)
    ).scalar_one()
    ids = connection.execute(
        select(outcomes.c.outcome_id)
        .join(episodes, episodes.c.outcome == outcomes.c.id)
        .where(*where)
        .order_by(episodes.c.outcome)
        .limit(limit)
    )
    return Provenance(count, tuple(ids.scalars()))


def count_competences(
    connection: Connection, project_id: int | None, *, at: float | None = None
) -> int:
    """How many records a project has, or all projects have (None); as of a moment if given."""
    if at is not None:
        projects: Sequence[int] = (
            [project_id]
            if project_id is not None
            else list(
                connection.execute(select(competence_history.c.project_id).distinct()).scalars()
            )
        )
        return sum(len(read_competences(connection, each, at=at)) for each in projects)
    query = select(func.count()).select_from(competences)
    if project_id is not None:
        query = query.where(competences.c.project_id == project_id)
    return connection.execute(query).scalar_one()


def _unknown(competence_id: str) -> str:
    return f"there is no competence {competence_id!r} in this project"
