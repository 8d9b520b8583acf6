"""Credit: outcomes that name the competence record they used add to its performance, once each.

An outcome may also be an episode of that same record, which consolidation counts. It counts here
until then, and there from then on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Double, and_, bindparam, case, exists, func, select, update

from trackrecord.learning.competences.record import Performance

from ..database.leases import for_update
from ..database.parts import in_parts
from ..database.upsert import insert_rows, later
from .tables import competence_credits, competence_numbers, competences, episodes

if TYPE_CHECKING:
    from trackrecord.wire.outcome_scorer import ScoredOutcome

_NOTHING = Performance()


@dataclass(frozen=True, slots=True)
class Credit:
    """The credit of one outcome to the record that it names.

    Attributes:
        project_id: the project's row.
        competence_id: the record.
        outcome: the outcome's row.
        received_at: seconds since the epoch.
        ended_at: when the task ended.
        success: whether it reached its goal.
        duration_ms: how long it took, where that is known.
        is_episode: whether consolidation reads it, too.
        replaced_at: when another record of the outcome took its place.
    """

    project_id: int
    competence_id: str
    outcome: int
    received_at: float
    ended_at: float
    success: bool
    duration_ms: int | None
    is_episode: bool
    replaced_at: float | None = None


def credit_of(project_id: int, row_id: int, outcome: ScoredOutcome) -> Credit | None:
    """Return the credit of an outcome to the record that it names; most outcomes name none."""
    if not outcome.competence_id or outcome.success is None:
        return None
    return Credit(
        project_id,
        outcome.competence_id,
        row_id,
        outcome.received_at,
        outcome.ended_at,
        outcome.success,
        outcome.duration_ms,
        outcome.is_episode,
    )


def credit_competences(connection: Connection, given: Iterable[Credit | None]) -> None:
    """Credit the records that new outcomes name.

    An id that the outcome's own project does not know is credited nowhere.

    Args:
        connection: within the transaction that records the outcomes.
        given: of outcomes that are really new; None for one that names no record.
    """
    named: dict[tuple[int, str], list[Credit]] = defaultdict(list)
    for each in given:
        if each is not None:
            named[each.project_id, each.competence_id].append(each)
    if named:
        known = hold_numbers(connection, (competence_id for _, competence_id in named))
        _write(connection, {key: named[key] for key in sorted(known & named.keys())})


def hold_numbers(connection: Connection, ids: Iterable[str]) -> set[tuple[int, str]]:
    """Hold what outcomes credit to records until the transaction ends, always in one order.

    Returns the projects and ids of those that are there.
    """
    found: set[tuple[int, str]] = set()
    table = competence_numbers
    for some in in_parts(sorted(set(ids))):
        query = (
            select(table.c.project_id, table.c.competence_id)
            .where(table.c.competence_id.in_(some))
            .order_by(table.c.competence_id)
        )
        found.update(
            (row[0], row[1]) for row in connection.execute(for_update(connection, query, table))
        )
    return found


def _write(connection: Connection, named: Mapping[tuple[int, str], Sequence[Credit]]) -> None:
    if not named:
        return
    table = competence_numbers.c
    sums = [
        {"project": project_id, "of": competence_id, **_sums(counted)}
        for (project_id, competence_id), given in named.items()
        if (counted := [each for each in given if each.replaced_at is None])
    ]
    if sums:
        connection.execute(
            update(competence_numbers)
            .where(table.project_id == bindparam("project"), table.competence_id == bindparam("of"))
            .values(
                credited_successes=table.credited_successes + bindparam("good"),
                credited_failures=table.credited_failures + bindparam("bad"),
                credited_latency_sum_ms=table.credited_latency_sum_ms + bindparam("took"),
                credited_latency_count=table.credited_latency_count + bindparam("timed"),
                credited_last_used_at=later(
                    table.credited_last_used_at,
                    bindparam("last", type_=competence_numbers.c.credited_last_used_at.type),
                ),
            ),
            sums,
        )
    rows = [
        (
            each.competence_id,
            each.outcome,
            each.project_id,
            each.received_at,
            each.ended_at,
            each.success,
            each.duration_ms,
            each.is_episode and each.replaced_at is None,
            each.replaced_at,
        )
        for given in named.values()
        for each in given
    ]
    insert_rows(
        connection,
        competence_credits,
        tuple(competence_credits.c),
        sorted(rows, key=lambda row: row[:2]),
    )


def take_back_credits(connection: Connection, replaced: Iterable[tuple[Credit, float]]) -> None:
    """Let credits count no longer, each from a moment on.

    Args:
        connection: within the transaction that replaces the records of their outcomes, after the
            new ones were credited.
        replaced: what was credited, and when its outcome got another record.
    """
    table = competence_credits.c
    taken = list(replaced)
    gone = [
        {"of": each.competence_id, "by": each.outcome, "project": each.project_id, "at": at}
        for each, at in taken
    ]
    if not gone:
        return
    ids = sorted({each.competence_id for each, _ in taken})
    hold_numbers(connection, ids)
    connection.execute(
        update(competence_credits)
        .where(
            table.competence_id == bindparam("of"),
            table.outcome == bindparam("by"),
            table.project_id == bindparam("project"),
        )
        .values(
            is_pending=False,
            counted_at=func.coalesce(table.counted_at, bindparam("at", type_=Double)),
        ),
        gone,
    )
    for some in in_parts(ids):
        sum_credits_again(connection, some)


def _sums(given: Sequence[Credit]) -> dict[str, float]:
    known = [each.duration_ms for each in given if each.duration_ms is not None]
    good = sum(each.success for each in given)
    return {
        "good": good,
        "bad": len(given) - good,
        "took": sum(known),
        "timed": len(known),
        "last": max(each.ended_at for each in given),
    }


def settle_credits(connection: Connection, signature_ids: Sequence[int]) -> None:
    """Let credits that consolidation has counted as a record's own episodes count no longer.

    It belongs into the transaction that brings the records of these signatures up to date.
    """
    table = competence_credits.c
    ids = list(
        connection.execute(
            select(competences.c.id)
            .where(
                competences.c.signature_id.in_(signature_ids),
                exists().where(table.competence_id == competences.c.id, table.is_pending),
            )
            .order_by(competences.c.id)
        ).scalars()
    )
    if not ids:
        return
    was_read = and_(episodes.c.project_id == table.project_id, episodes.c.outcome == table.outcome)
    read_at = (
        select(episodes.c.read_at)
        .where(
            was_read,
            competences.c.id == table.competence_id,
            competences.c.signature_id == episodes.c.signature_id,
        )
        .correlate(competence_credits)
    )
    connection.execute(
        update(competence_credits)
        .where(table.competence_id.in_(ids), table.is_pending, exists().where(was_read))
        .values(is_pending=False, counted_at=read_at.scalar_subquery())
    )
    sum_credits_again(connection, ids)


def sum_credits_again(connection: Connection, ids: Sequence[str]) -> None:
    """Compute what outcomes credited to records from the credits on record."""
    if not ids:
        return
    table = competence_numbers.c
    credited = credited_performance(connection, ids)
    connection.execute(
        update(competence_numbers)
        .where(table.competence_id == bindparam("of"))
        .values(
            credited_successes=bindparam("good"),
            credited_failures=bindparam("bad"),
            credited_latency_sum_ms=bindparam("took"),
            credited_latency_count=bindparam("timed"),
            credited_last_used_at=bindparam("last"),
        ),
        [
            {
                "of": each,
                "good": sums.success_count,
                "bad": sums.failure_count,
                "took": sums.latency_sum_ms,
                "timed": sums.latency_count,
                "last": sums.last_used_at,
            }
            for each in ids
            if (sums := credited.get(each, _NOTHING))
        ],
    )


def credited_performance(connection: Connection, ids: Sequence[str]) -> dict[str, Performance]:
    """Return the performance of records, computed from their credits."""
    table = competence_credits.c
    good = func.sum(case((table.success, 1), else_=0))
    query = (
        select(
            table.competence_id,
            good,
            func.count() - good,
            func.coalesce(func.sum(table.duration_ms), 0),
            func.count(table.duration_ms),
            func.max(table.ended_at),
        )
        .where(table.competence_id.in_(ids), table.counted_at.is_(None))
        .group_by(table.competence_id)
    )
    # PostgreSQL sums to a decimal.
    return {
        row[0]: Performance(int(row[1]), int(row[2]), int(row[3]), row[4], row[5])
        for row in connection.execute(query)
    }
