"""Moving the landmark that a project's sums are relative to, before floats run short."""

from collections.abc import Iterable

from sqlalchemy import Connection, select, update

from trackrecord.learning.numbers.decay import Bases, HalfLives

from ..database.upsert import insert_rows
from ..ledger.upkeep import rebase
from ..outcomes.recorded_rules import bases_of, held_bases, row_of
from ..outcomes.tables import decay_bases


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
    return move_landmark(connection, project_id, old, now)


def move_landmark(connection: Connection, project_id: int, old: Bases, now: float) -> Bases:
    """Make a project's sums relative to a moment; return the bases.

    Args:
        connection: within a writing transaction that holds the project's bases alone.
        project_id: whose.
        old: what they were relative to.
        now: the moment, seconds since the epoch, not before that of the old ones.
    """
    rebase(connection, project_id, old, now)
    own = decay_bases.c.project_id == project_id
    connection.execute(update(decay_bases).where(own).values(landmark=now))
    return Bases(old.half_lives, now)
