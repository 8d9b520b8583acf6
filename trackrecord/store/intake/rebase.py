"""Moving the landmark that a project's sums are relative to, before floats run short."""

import sys
from collections.abc import Iterable

from sqlalchemy import Column, ColumnElement, Connection, case, literal, select, update

from trackrecord.learning.numbers.decay import Bases, HalfLives

from ..criteria.tables import criteria
from ..database.upsert import insert_rows
from ..outcomes.recorded_rules import bases_of, held_bases, row_of
from ..outcomes.tables import decay_bases
from ..patterns.tables import pattern_speakers, patterns


def bases_for_writing(
    connection: Connection,
    project_ids: Iterable[int],
    half_lives: HalfLives,
    now: float,
    *,
    alone: bool = False,
) -> dict[int, Bases]:
    """Return what to add sums against, by project, held until the transaction ends.

    The bases are made at a project's first outcome, and moved when floats run short. Their
    half-lives are those of the stored sums: a changed setting takes effect with a rebuild.

    Args:
        connection: within a writing transaction that has not added to any sum.
        project_ids: the rows of the projects.
        half_lives: those of new projects.
        now: the time of the batch, seconds since the epoch.
        alone: let nobody else add to these projects' sums until the transaction ends. Who adds to
            them more than once has to: two of them would wait for each other in a circle.
    """
    wanted = sorted(project_ids)
    bases = held_bases(connection, wanted, alone=alone)
    missing = [project_id for project_id in wanted if project_id not in bases]
    if missing:
        rows = [row_of(project_id, Bases(half_lives, now)) for project_id in missing]
        insert_rows(connection, decay_bases, tuple(decay_bases.c), rows)
        bases = held_bases(connection, wanted, alone=alone)
    for project_id, own in bases.items():
        if own.are_due_for_rebase(now):
            bases[project_id] = _moved(connection, project_id, now)
    return bases


def _moved(connection: Connection, project_id: int, now: float) -> Bases:
    own = decay_bases.c.project_id == project_id
    row = connection.execute(select(decay_bases).where(own).with_for_update()).one()
    old = bases_of(row)
    if not old.are_due_for_rebase(now):
        return old  # another worker was first
    for table, basis in ((patterns, old.patterns), (criteria, old.criteria)):
        factor = basis.value(1.0, now)
        connection.execute(
            update(table)
            .where(table.c.project_id == project_id)
            .values(
                helpful_sum=_scaled(table.c.helpful_sum, factor),
                harmful_sum=_scaled(table.c.harmful_sum, factor),
            )
        )
    factor = old.patterns.value(1.0, now)
    spoken = pattern_speakers.c
    connection.execute(
        update(pattern_speakers)
        .where(spoken.project_id == project_id)
        .values(
            helpful_sum=_scaled(spoken.helpful_sum, factor),
            harmful_sum=_scaled(spoken.harmful_sum, factor),
            helpful_claimed_sum=_scaled(spoken.helpful_claimed_sum, factor),
            harmful_claimed_sum=_scaled(spoken.harmful_claimed_sum, factor),
        )
    )
    connection.execute(update(decay_bases).where(own).values(landmark=now))
    return Bases(old.half_lives, now)


def _scaled(column: Column[float], factor: float) -> ColumnElement[float]:
    """Return a sum times a factor below 1; tiny sums become zero.

    PostgreSQL takes a product that is too small for a float for an error.
    """
    if factor < sys.float_info.min:
        return literal(0.0)
    return case((column < sys.float_info.min / factor, 0.0), else_=column * factor)
