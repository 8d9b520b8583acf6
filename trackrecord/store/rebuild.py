"""Computing every statistic of a project anew from the outcomes on record."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, func, select, update

from ..appraisal import NAMED, Appraised, Appraiser
from ..learning.decay import DecayBasis, DecayRules
from ..outcome import decode_outcome
from .basis import replace_basis
from .deltas import Deltas, write_deltas
from .projects import next_revision
from .tables import observations, outcomes, pattern_transitions, patterns, projects
from .transitions import TransitionRules, record_transitions

_CHUNK = 2000
# What is on record passed the limit of its day.
_ANY_SIZE = 2**31
# No spelling of a name is larger: this is no character, and the last code point.
_LARGEST = "\U0010ffff"


@dataclass(frozen=True)
class Rebuilt:
    """What a rebuild went through.

    Attributes:
        outcomes: outcomes on record.
        patterns: patterns that they touch.
    """

    outcomes: int
    patterns: int


def rebuild_patterns(
    connection: Connection,
    project_id: int,
    appraiser: Appraiser,
    *,
    decay: DecayRules,
    transition_rules: TransitionRules,
    now: float,
) -> Rebuilt:
    """Appraise every outcome on record again and compute a project's sums from nothing.

    All in the caller's writing transaction: readers see the old sums or the new ones, and
    workers' batches of this project wait in the stream. History is kept.
    """
    basis = DecayBasis(decay.half_life_days, now)
    replace_basis(connection, project_id, basis)
    _clear(connection, project_id)
    total = 0
    for chunk in _chunks(connection, project_id):
        appraised = [(row.id, _appraised(row, appraiser)) for row in chunk]
        deltas = Deltas()
        for row_id, outcome in appraised:
            deltas.add(project_id, row_id, outcome, basis)
        write_deltas(connection, deltas)
        _store_scores(connection, appraised)
        total += len(appraised)
    _drop_untouched(connection, project_id)
    rows = connection.execute(
        select(patterns).where(patterns.c.project_id == project_id).order_by(patterns.c.slug)
    ).all()
    record_transitions(connection, rows, transition_rules, bases={project_id: basis}, now=now)
    _recount(connection, project_id, now)
    return Rebuilt(total, len(rows))


def _clear(connection: Connection, project_id: int) -> None:
    own = select(patterns.c.id).where(patterns.c.project_id == project_id)
    connection.execute(delete(observations).where(observations.c.pattern_id.in_(own)))
    connection.execute(
        update(patterns)
        .where(patterns.c.project_id == project_id)
        .values(
            # The smallest spelling is kept, and "strategy" before "named": begin at the other end.
            kind=NAMED,
            content=_LARGEST,
            helpful=0,
            neutral=0,
            harmful=0,
            helpful_sum=0.0,
            harmful_sum=0.0,
            last_validated=None,
        )
    )


def _chunks(connection: Connection, project_id: int) -> Iterator[list[Row[Any]]]:
    last = 0
    while True:
        query = (
            select(outcomes.c.id, outcomes.c.outcome_id, outcomes.c.received_at, outcomes.c.body)
            .where(outcomes.c.project_id == project_id, outcomes.c.id > last)
            .order_by(outcomes.c.id)
            .limit(_CHUNK)
        )
        rows: list[Row[Any]] = list(connection.execute(query))
        if not rows:
            return
        yield rows
        last = rows[-1].id


def _appraised(row: Row[Any], appraiser: Appraiser) -> Appraised:
    outcome = decode_outcome(row.body, max_bytes=_ANY_SIZE)
    return appraiser.appraise(
        outcome, row.body, received_at=row.received_at, outcome_id=row.outcome_id
    )


def _store_scores(connection: Connection, appraised: list[tuple[int, Appraised]]) -> None:
    connection.execute(
        update(outcomes)
        .where(outcomes.c.id == bindparam("row"))
        .values(raw_score=bindparam("score"), verdict=bindparam("says")),
        [
            {"row": row_id, "score": outcome.raw_score, "says": outcome.verdict.value}
            for row_id, outcome in appraised
        ],
    )


def _drop_untouched(connection: Connection, project_id: int) -> None:
    """Patterns that today's rules no longer find in any outcome."""
    touched = select(observations.c.pattern_id)
    gone = list(
        connection.execute(
            select(patterns.c.id)
            .where(patterns.c.project_id == project_id)
            .where(patterns.c.id.not_in(touched))
        ).scalars()
    )
    if gone:
        connection.execute(
            delete(pattern_transitions).where(pattern_transitions.c.pattern_id.in_(gone))
        )
        connection.execute(delete(patterns).where(patterns.c.id.in_(gone)))


def _recount(connection: Connection, project_id: int, now: float) -> None:
    own = outcomes.c.project_id == project_id
    total = select(func.count()).where(own).scalar_subquery()
    successes = select(func.count()).where(own, outcomes.c.success).scalar_subquery()
    connection.execute(
        update(projects)
        .where(projects.c.id == project_id)
        .values(revision=next_revision(now), outcomes=total, successes=successes)
    )
