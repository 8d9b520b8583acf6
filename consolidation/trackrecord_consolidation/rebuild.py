"""Refolding: recompute every sum of a project from the episodes that were read."""

from collections.abc import Callable

from sqlalchemy import Connection

from trackrecord.learning.competences.rules import CompetenceRules
from trackrecord.learning.competences.update import follow_rebuilt
from trackrecord.store.competences.episodes import read_before, reassign, retract_replaced
from trackrecord.store.competences.removed import removed_tallies
from trackrecord.store.competences.signatures import add_tallies, clear_sums, drop_unused
from trackrecord.store.competences.tables import signatures

from .folding import fold
from .report import Progress
from .run_lease import RunLease
from .update_records import RecordUpdater

EPISODES = 10_000
SIGNATURES = 500
TURN_S = 60.0


def rebuild_competences(
    connection: Connection,
    rules: CompetenceRules,
    project: str,
    project_id: int,
    *,
    now: float,
    report: Callable[[int], None] = lambda _episodes: None,
) -> Progress:
    """Add up a project's episodes again, under rules that may have changed.

    Records follow; no success counts as a new one. Episodes that still wait go on waiting.

    Args:
        connection: a connection within a writing transaction, so that all of it happens or nothing.
        rules: the rules of competence records.
        project: the project's name.
        project_id: the id of the project's row.
        now: the time of the rebuild, seconds since the epoch.
        report: told now and then how many episodes were read so far.

    Raises:
        AlreadyRunning: the project is being consolidated.
    """
    turn = RunLease(project, TURN_S)
    turn.take(connection)
    progress = Progress()
    retract_replaced(connection, project_id, now)
    clear_sums(connection, signatures.c.project_id == project_id)
    add_tallies(connection, project_id, removed_tallies(connection, project_id))
    done = 0
    while True:
        folded = fold(rules, read_before(connection, project_id, after=done, limit=EPISODES))
        if not folded.read:
            break
        ids = add_tallies(connection, project_id, folded.tallies)
        reassign(connection, project_id, folded.read, ids)
        progress.add_folded(folded)
        done = folded.read[-1].outcome
        report(progress.episodes_read)
    follower = RecordUpdater(
        rules=rules,
        project=project,
        project_id=project_id,
        actor="rebuild",
        now=now,
        rule=follow_rebuilt,
    )
    while follower.update_records(connection, progress, limit=SIGNATURES):
        pass
    drop_unused(connection, project_id)
    turn.give_back(connection)
    return progress
