"""The intake: one batch of outcomes, one transaction, each outcome counted exactly once.

Entries about one outcome are joined: every statistic is as if only the joined record had come.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from sqlalchemy import Connection, select

from trackrecord.learning.rules_bundle import Rules
from trackrecord.wire.join import apart_id
from trackrecord.wire.outcome_scorer import ScoredOutcome

from ..database.upsert import insert_rows
from ..outcomes.entries import record
from ..outcomes.forgotten import forgotten_among, share_projects
from ..outcomes.removed import removed_among
from ..outcomes.tables import projects
from .amending import NOTHING_AMENDED, Amended, amend, bodies_of
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
        refused: entries that an outcome has no room for.
        forgotten: entries about outcomes that a person has forgotten; they changed nothing.
        too_old: entries about outcomes that were removed, or ended before those that were, and are
            not on record: a removed one would count twice.
    """

    recorded: int
    duplicates: int
    projects: frozenset[str]
    amended: int = 0
    refused: tuple[ScoredOutcome, ...] = ()
    forgotten: int = 0
    too_old: int = 0


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
    known, batch = batch, _not_too_old(connection, batch)
    unique: dict[tuple[str, str], ScoredOutcome] = {}
    for outcome in batch:
        unique.setdefault((outcome.project, outcome.outcome_id), outcome)
    project_ids = _rows_of(connection, {project for project, _ in unique})
    recorded = record(connection, project_ids, unique.values())
    # Outcomes on record that are amended are added up after the new ones.
    bases = bases_for_writing(
        connection,
        project_ids.values(),
        rules.half_lives,
        now,
        alone=len(recorded) < len(batch),
    )
    taking_in = BatchIntake(connection, project_ids, bases, rules, now)
    taking_in.add(recorded)
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
        refused=amended.refused,
        forgotten=len(given) - len(known),
        too_old=len(known) - len(batch),
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
        refused=(*learnt.refused, *refused),
        forgotten=learnt.forgotten + more.forgotten,
        too_old=learnt.too_old + more.too_old,
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


def _not_too_old(connection: Connection, batch: Sequence[ScoredOutcome]) -> Sequence[ScoredOutcome]:
    """Leave out entries about outcomes that may have been removed."""
    query = select(projects.c.name, projects.c.id, projects.c.outcomes_until.label("until")).where(
        projects.c.name.in_(sorted({each.project for each in batch})),
        projects.c.outcomes_until.is_not(None),
    )
    removed = {row.name: row for row in connection.execute(query)}
    if not removed:
        return batch
    late: defaultdict[str, list[ScoredOutcome]] = defaultdict(list)
    for each in batch:
        if each.project in removed:
            late[each.project].append(each)
    old = [
        each
        for name, some in late.items()
        for each in _of_removed_time(connection, removed[name].id, some, removed[name].until)
    ]
    key_of = {id(each): (removed[each.project].id, each.outcome_id) for each in old}
    on_record = bodies_of(connection, set(key_of.values()))
    too_old = {each for each, key in key_of.items() if key not in on_record}
    return [each for each in batch if id(each) not in too_old]


def _of_removed_time(
    connection: Connection, project_id: int, batch: Sequence[ScoredOutcome], until: float
) -> Iterable[ScoredOutcome]:
    """Return the entries of a project's batch that end before a moment, or are marked."""
    marked = removed_among(connection, project_id, chain.from_iterable(map(_names, batch)))
    return [
        each
        for each in batch
        if each.ended_at < until or (marked and not marked.isdisjoint(_names(each)))
    ]


def _names(entry: ScoredOutcome) -> tuple[str, ...]:
    """Return the ids that the removed outcome of an entry may have had.

    One of another speaker than the run's is recorded apart; it is the same if it says no time.
    """
    if entry.ended_at < entry.received_at:
        return (entry.outcome_id,)
    return entry.outcome_id, apart_id(entry.outcome_id, entry.speaker)


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
