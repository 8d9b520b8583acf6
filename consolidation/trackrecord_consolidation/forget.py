"""Forgetting in the store: a source, a task or a project, in one transaction."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from sqlalchemy import Connection, Engine

from trackrecord.learning.rules_bundle import Rules
from trackrecord.store.competences.rebuild_credit import rebuild_credit
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.intake.forget_outcomes import forget_outcomes
from trackrecord.store.intake.forget_project import (
    count_of_name,
    count_of_project,
    forget_name,
    forget_project,
)
from trackrecord.store.intake.subjects import OnRecord, find_on_record
from trackrecord.store.outcomes.forgotten import (
    finish_forgetting,
    lock_project,
    mark_forgotten,
    note_forgetting,
    unfinished,
)
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.wire.subject import Subject

from .rewrite import Rewriter
from .run_lease import RunLease

_TURN_S = 60.0


@dataclass(frozen=True)
class InStore:
    """The counts of a subject's rows in the store.

    Attributes:
        found: its outcomes, and what follows from them; of a project only its counts are known.
        counts: how many there are, by what they are.
        is_begun: whether an act of forgetting it was interrupted.
    """

    found: OnRecord = field(default_factory=OnRecord)
    counts: dict[str, int] = field(default_factory=dict)
    is_begun: bool = False


def find_in_store(engine: Engine, subject: Subject) -> InStore:
    """Return the counts of a subject's records; changes nothing."""
    with reading(engine) as connection:
        return _find(connection, project_id_of(connection, subject.project), subject)


def _find(connection: Connection, project_id: int | None, subject: Subject) -> InStore:
    is_begun = bool(unfinished(connection, subject))
    if subject.what == "project":
        counts = count_of_name(connection, subject.project)
        if project_id is not None:
            counts |= {"projects": 1} | count_of_project(connection, project_id)
        return InStore(counts=counts, is_begun=is_begun)
    if project_id is None:
        return InStore(is_begun=is_begun)
    found = find_on_record(connection, project_id, subject)
    counts = {
        "outcomes": len(found.outcomes),
        "memories": len(found.memories) + len(found.seconded),
        "exposures": len(found.exposures),
        "hints": len(found.hints),
        "observations": found.observations,
    }
    return InStore(found, counts, is_begun)


def check_turn(engine: Engine, project: str) -> None:
    """Check that no consolidation of the project is running.

    Raises:
        AlreadyRunning: somebody does.
    """
    with writing(engine) as connection:
        turn = RunLease(project, _TURN_S)
        turn.take(connection)
        turn.give_back(connection)


def forget_in_store(
    engine: Engine,
    rules: Rules,
    subject: Subject,
    marks: Iterable[bytes],
    *,
    actor: str,
    now: float,
) -> dict[str, int]:
    """Forget a subject in the store; return how many of each kind were erased.

    All of it happens or nothing. Workers' batches of the project wait in the stream meanwhile, and
    readers see the store as it was before. What was interrupted before is part of the answer.

    Args:
        engine: the store.
        rules: the rules of today.
        subject: what is to be forgotten.
        marks: what stands for ids that were found elsewhere, so that they do not come back.
        actor: who forgets it.
        now: seconds since the epoch.

    Raises:
        AlreadyRunning: the project is being consolidated.
        StoreUnavailable: the database cannot be used, or is locked for too long.
    """
    with writing(engine) as connection:
        lock_project(connection, subject.project)
        project_id = project_id_of(connection, subject.project)
        known = _find(connection, project_id, subject)
        if project_id is not None:
            turn = RunLease(subject.project, _TURN_S)
            turn.take(connection)
            if subject.what == "project":
                forget_project(connection, subject.project, project_id, now=now)
            else:
                _forget_some(connection, project_id, rules, subject, known.found, now)
            turn.give_back(connection)
        elif subject.what == "project":
            forget_name(connection, subject.project)
        mark_forgotten(connection, marks, now)
        note_forgetting(connection, subject, known.counts, actor=actor, now=now)
    return known.counts


def _forget_some(
    connection: Connection,
    project_id: int,
    rules: Rules,
    subject: Subject,
    found: OnRecord,
    now: float,
) -> None:
    gone = forget_outcomes(connection, project_id, subject, found, rules, now=now)
    if found.rows:
        rewriter = Rewriter(connection, rules.competence, subject.project, project_id)
        rewriter.rewrite(gone.signatures)
        rebuild_credit(connection, project_id)


def finish(engine: Engine, subject: Subject, counts: dict[str, int], *, now: float) -> None:
    """Note that the subject is gone everywhere; the last record has the totals."""
    with writing(engine) as connection:
        begun = unfinished(connection, subject)
        for act in begun:
            is_last = act is begun[-1]
            finish_forgetting(connection, act.row, counts if is_last else act.counts, now=now)
