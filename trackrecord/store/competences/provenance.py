"""Provenance: the episodes that a competence record comes from."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, Connection, and_, false, func, or_, select

from trackrecord.learning.competences.record import DERIVED_FROM, Competence
from trackrecord.learning.competences.record import competence_id as id_of

from ..outcomes.tables import outcomes
from .read import credited_record, with_credit
from .tables import competence_credits, competences, digest_of, episodes, signatures

_MOST_NAMED: Final = 100


@dataclass(frozen=True)
class Provenance:
    """The successful episodes that a record is derived from.

    Attributes:
        count: how many there are.
        outcome_ids: the first of them, in the order in which they were recorded.
    """

    count: int
    outcome_ids: tuple[str, ...]


def read_provenance(connection: Connection, project_id: int, record: Competence) -> Provenance:
    """The successful episodes that a record comes from.

    Those of its signature; of a record made by hand, those that the records it is derived from
    had when it was made.
    """
    origins = _origins(connection, project_id, record)
    where = [
        or_(false(), *(_of_origin(project_id, *each) for each in origins)),
        episodes.c.success,
        episodes.c.retracted_at.is_(None),
    ]
    count = connection.execute(
        select(func.count()).select_from(episodes).where(*where)
    ).scalar_one()
    ids = connection.execute(
        select(outcomes.c.outcome_id)
        .join(episodes, episodes.c.outcome == outcomes.c.id)
        .where(*where)
        .order_by(episodes.c.outcome)
        .limit(_MOST_NAMED)
    )
    return Provenance(count, tuple(ids.scalars()))


def newest_rows(
    connection: Connection,
    project_id: int,
    record: Competence,
    *,
    limit: int,
) -> list[int]:
    """Return the rows of the outcomes that count for a record, the newest first.

    Those are the episodes that it comes from, whether they succeeded or not, and the outcomes that
    name it.

    Args:
        connection: a reading transaction.
        project_id: whose record.
        record: the record.
        limit: how many to return at most.
    """
    found = set(_credited(connection, record.id, limit))
    for signature, until in sorted(_origins(connection, project_id, record), key=str):
        # In the order of the index, one half after the other.
        for success in (True, False):
            query = select(episodes.c.outcome).where(
                _of_origin(project_id, signature, until),
                episodes.c.success == success,
                episodes.c.retracted_at.is_(None),
            )
            newest = query.order_by(episodes.c.outcome.desc()).limit(limit)
            found.update(connection.execute(newest).scalars())
    return sorted(found, reverse=True)[:limit]


def _credited(connection: Connection, competence_id: str, limit: int) -> Iterable[int]:
    table = competence_credits.c
    query = select(table.outcome).where(
        table.competence_id == competence_id, table.counted_at.is_(None)
    )
    return connection.execute(query.order_by(table.outcome.desc()).limit(limit)).scalars()


# A signature, and until when its episodes count; None: all of them.
_Origin = tuple[str, float | None]


def _origins(connection: Connection, project_id: int, record: Competence) -> set[_Origin]:
    """Return the signatures and periods of a record and its ancestors, to find its episodes."""
    origins: set[_Origin] = set()
    seen: set[str] = set()
    ahead: list[tuple[Competence, float | None]] = [(record, None)]
    while ahead:
        each, until = ahead.pop()
        if each.id in seen:
            continue
        seen.add(each.id)
        if each.id == id_of(each.project, each.signature):
            origins.add((each.signature, until))
            continue
        made = each.created_at if until is None else min(until, each.created_at)
        ids = [link.target_id for link in each.relations if link.predicate == DERIVED_FROM]
        query = with_credit(project_id).where(competences.c.id.in_(ids))
        ahead += [(credited_record(row), made) for row in connection.execute(query)]
    return origins


def _of_origin(project_id: int, signature: str, until: float | None) -> ColumnElement[bool]:
    wanted = select(signatures.c.id).where(
        signatures.c.project_id == project_id, signatures.c.digest == digest_of(signature)
    )
    of_signature = episodes.c.signature_id == wanted.scalar_subquery()
    return of_signature if until is None else and_(of_signature, episodes.c.read_at <= until)
