"""The intake: one batch of outcomes, one transaction, each outcome counted exactly once."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BigInteger, Connection, bindparam, select, update

from trackrecord.learning.outcomes.scoring import Verdict
from trackrecord.rules import Rules
from trackrecord.wire.outcome_scorer import ScoredOutcome

from ..advice.runs import note_runs
from ..competences.credit import credit_competences, credit_of
from ..criteria.sums import CriterionDeltas, write_criterion_deltas
from ..database.bulk_insert import insert_rows
from ..memories.credit import credit_memories
from ..memories.past_tasks import note_past_tasks
from ..outcomes.projects import clock_of, next_revision
from ..outcomes.recorded_rules import note_rules
from ..outcomes.tables import outcomes, projects, waiting_episodes
from ..patterns.sums import Deltas, write_deltas
from ..patterns.transitions import Transition, record_transitions
from .rebase import bases_for_writing


@dataclass(frozen=True)
class Learnt:
    """What one batch changed.

    Attributes:
        recorded: outcomes that are new.
        duplicates: outcomes that were on record already, or twice in the batch.
        projects: the projects that changed.
        transitions: changes of state among the patterns that were touched.
    """

    recorded: int
    duplicates: int
    projects: frozenset[str]
    transitions: tuple[Transition, ...]


def learn(
    connection: Connection,
    batch: Sequence[ScoredOutcome],
    rules: Rules,
    *,
    now: float,
) -> Learnt:
    """Record a batch and update every statistic from the outcomes that are really new.

    Args:
        connection: within a writing transaction; commit makes the batch learnt.
        batch: outcomes in any order; the first of several with one id counts.
        rules: the rules that the outcomes were scored by, too.
        now: the time of the batch, seconds since the epoch.
    """
    unique: dict[tuple[str, str], ScoredOutcome] = {}
    for outcome in batch:
        unique.setdefault((outcome.project, outcome.outcome_id), outcome)
    project_ids = ensure_projects(connection, {project for project, _ in unique})
    bases = bases_for_writing(connection, project_ids.values(), rules.decay.half_life_days, now)
    recorded = _record(connection, project_ids, unique.values())

    deltas = Deltas()
    feedback = CriterionDeltas()
    for row_id, outcome in recorded:
        project_id = project_ids[outcome.project]
        deltas.add(project_id, row_id, outcome, bases[project_id])
        feedback.add(project_id, row_id, outcome, bases[project_id])
    note_rules(connection, {project_ids[each.project] for _, each in recorded}, rules.recorded)
    changed = write_deltas(connection, deltas)
    episodes = sorted(
        (project_ids[outcome.project], row_id) for row_id, outcome in recorded if outcome.is_episode
    )
    insert_rows(connection, waiting_episodes, tuple(waiting_episodes.c), episodes)
    transitions = record_transitions(connection, changed.values(), rules, bases=bases, now=now)
    note_past_tasks(connection, project_ids, recorded)
    note_runs(connection, project_ids, recorded)
    credit_memories(
        connection, project_ids, [outcome for _, outcome in recorded], rules.memories, now
    )
    # Late: these few rows are the same in every batch, and are held until the transaction ends.
    write_criterion_deltas(connection, feedback)
    credit_competences(
        connection,
        (credit_of(project_ids[each.project], row_id, each) for row_id, each in recorded),
    )
    _count(connection, project_ids, [outcome for _, outcome in recorded], now)
    return Learnt(
        recorded=len(recorded),
        duplicates=len(batch) - len(recorded),
        projects=frozenset(outcome.project for _, outcome in recorded),
        transitions=transitions,
    )


def ensure_projects(connection: Connection, names: Iterable[str]) -> dict[str, int]:
    """The ids of projects by name; those that are new are made."""
    wanted = sorted(set(names))
    query = select(projects.c.name, projects.c.id).where(projects.c.name.in_(wanted))
    known = {row.name: row.id for row in connection.execute(query)}
    missing = [name for name in wanted if name not in known]
    if missing:
        columns = (projects.c.name, projects.c.revision, projects.c.outcomes, projects.c.successes)
        rows = [(name, 0, 0, 0) for name in missing]
        insert_rows(connection, projects, columns, rows)
        known = {row.name: row.id for row in connection.execute(query)}
    return known


# A member of an enum gives its value slowly.
_VERDICTS = {verdict: verdict.value for verdict in Verdict}
_RECORDED_COLUMNS = tuple(
    column for column in outcomes.c if column.name not in ("id", "replaced_at")
)


def _record(
    connection: Connection, project_ids: dict[str, int], batch: Iterable[ScoredOutcome]
) -> list[tuple[int, ScoredOutcome]]:
    """Insert what is not on record yet; answers it with its row ids, in a fixed order."""
    by_key = {(project_ids[each.project], each.outcome_id): each for each in batch}
    rows: list[tuple[Any, ...]] = [
        (
            key[0],
            key[1],
            each.task_id,
            each.received_at,
            each.ended_at,
            each.success,
            each.raw_score,
            each.verdict and _VERDICTS[each.verdict],
            each.body,
            bool(each.named),
        )
        for key, each in sorted(by_key.items(), key=lambda item: item[0])
    ]
    returning = (outcomes.c.id, outcomes.c.project_id, outcomes.c.outcome_id)
    inserted = insert_rows(connection, outcomes, _RECORDED_COLUMNS, rows, returning=returning)
    return sorted(
        ((row_id, by_key[project_id, outcome_id]) for row_id, project_id, outcome_id in inserted),
        key=lambda pair: pair[0],
    )


_ADD_COUNTS = (
    update(projects)
    .where(projects.c.id == bindparam("project"))
    .values(
        revision=next_revision(bindparam("clock", type_=BigInteger)),
        outcomes=projects.c.outcomes + bindparam("more_outcomes"),
        successes=projects.c.successes + bindparam("more_successes"),
        without_verdict=projects.c.without_verdict + bindparam("more_without"),
        last_learnt_at=bindparam("now"),
    )
)


def _count(
    connection: Connection,
    project_ids: dict[str, int],
    recorded: Sequence[ScoredOutcome],
    now: float,
) -> None:
    if not recorded:
        return
    outcomes_of = Counter(project_ids[each.project] for each in recorded)
    successes_of = Counter(project_ids[each.project] for each in recorded if each.success)
    without_of = Counter(project_ids[each.project] for each in recorded if each.success is None)
    connection.execute(
        _ADD_COUNTS,
        [
            {
                "project": project_id,
                "clock": clock_of(now),
                "more_outcomes": count,
                "more_successes": successes_of[project_id],
                "more_without": without_of[project_id],
                "now": now,
            }
            for project_id, count in sorted(outcomes_of.items())
        ],
    )
