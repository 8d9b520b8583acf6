"""The intake: one batch of outcomes, one transaction, each outcome counted exactly once.

Entries about one outcome are joined: every statistic is as if only the joined record had come.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from trackrecord.rules_bundle import Rules
from trackrecord.wire.outcome_scorer import ScoredOutcome

from ..database.bulk_insert import insert_rows
from ..outcomes.forgotten import forgotten_among, share_projects
from ..outcomes.record import record
from ..outcomes.tables import projects
from ..patterns.transitions import Transition
from .amending import NOTHING_AMENDED, Amended, amend
from .apply_outcomes import BatchIntake
from .rebase import bases_for_writing


@dataclass(frozen=True)
class BatchChanges:
    """The changes by one batch.

    Attributes:
        recorded: outcomes that are new.
        amended: entries that changed the record of an outcome.
        duplicates: entries that added nothing to what was on record already.
        projects: the projects that changed.
        transitions: changes of state among the patterns that were touched.
        refused: entries that an outcome has no room for.
        forgotten: entries about outcomes that a person has forgotten; they changed nothing.
    """

    recorded: int
    duplicates: int
    projects: frozenset[str]
    transitions: tuple[Transition, ...]
    amended: int = 0
    refused: tuple[ScoredOutcome, ...] = ()
    forgotten: int = 0


def learn(
    connection: Connection,
    batch: Sequence[ScoredOutcome],
    rules: Rules,
    *,
    now: float,
) -> BatchChanges:
    """Record a batch and update every statistic from the outcomes that are really new.

    Args:
        connection: within a writing transaction; commit makes the batch learnt.
        batch: outcomes in any order. Several with one id are joined, see `wire/join.py`, unless
            they are the same byte for byte: then one counts.
        rules: the rules that the outcomes were scored by, too.
        now: the time of the batch, seconds since the epoch.
    """
    share_projects(connection, {outcome.project for outcome in batch})
    given, batch = batch, _not_forgotten(connection, batch)
    unique: dict[tuple[str, str], ScoredOutcome] = {}
    for outcome in batch:
        unique.setdefault((outcome.project, outcome.outcome_id), outcome)
    project_ids = _rows_of(connection, {project for project, _ in unique})
    bases = bases_for_writing(connection, project_ids.values(), rules.half_lives, now)
    recorded = record(connection, project_ids, unique.values())
    taking_in = BatchIntake(connection, project_ids, bases, rules, now)
    transitions = taking_in.add(recorded)
    amended = NOTHING_AMENDED
    if len(recorded) < len(batch):
        new = {id(outcome) for _, outcome in recorded}
        amended = amend(taking_in, [each for each in batch if id(each) not in new])
    duplicates = (
        len(batch) - len(recorded) - amended.amended - len(amended.refused)
        - sum(entry is not None for _, entry in amended.apart)
    )  # fmt: skip
    learnt = BatchChanges(
        recorded=len(recorded),
        amended=amended.amended,
        duplicates=duplicates,
        projects=frozenset(outcome.project for _, outcome in recorded) | amended.projects,
        transitions=transitions + amended.transitions,
        refused=amended.refused,
        forgotten=len(given) - len(batch),
    )
    return _with_apart(connection, learnt, amended, rules, now) if amended.apart else learnt


def _with_apart(
    connection: Connection, learnt: BatchChanges, amended: Amended, rules: Rules, now: float
) -> BatchChanges:
    """Learn entries that are outcomes of their own; return all changes of the batch."""
    came_as = {id(outcome): entry for outcome, entry in amended.apart}
    more = learn(connection, [outcome for outcome, _ in amended.apart], rules, now=now)
    refused = [entry for each in more.refused if (entry := came_as[id(each)]) is not None]
    return BatchChanges(
        recorded=learnt.recorded + more.recorded,
        amended=learnt.amended + more.amended,
        duplicates=learnt.duplicates + more.duplicates,
        projects=learnt.projects | more.projects,
        transitions=learnt.transitions + more.transitions,
        refused=(*learnt.refused, *refused),
        forgotten=learnt.forgotten + more.forgotten,
    )


def _not_forgotten(
    connection: Connection, batch: Sequence[ScoredOutcome]
) -> Sequence[ScoredOutcome]:
    """Leave out entries about forgotten outcomes."""
    names = {(each.project, each.outcome_id) for each in batch}
    forgotten = forgotten_among(connection, "outcome", names)
    if not forgotten:
        return batch
    return [each for each in batch if (each.project, each.outcome_id) not in forgotten]


def ensure_projects(connection: Connection, names: Iterable[str]) -> dict[str, int]:
    """Return the ids of projects by name; those that are new are made.

    None of them is forgotten until the transaction ends.
    """
    wanted = set(names)
    share_projects(connection, wanted)
    return _rows_of(connection, wanted)


def _rows_of(connection: Connection, names: Iterable[str]) -> dict[str, int]:
    wanted = sorted(names)
    query = select(projects.c.name, projects.c.id).where(projects.c.name.in_(wanted))
    known = {row.name: row.id for row in connection.execute(query)}
    missing = [name for name in wanted if name not in known]
    if missing:
        columns = (projects.c.name, projects.c.revision, projects.c.outcomes, projects.c.successes)
        rows = [(name, 0, 0, 0) for name in missing]
        insert_rows(connection, projects, columns, rows)
        known = {row.name: row.id for row in connection.execute(query)}
    return known
