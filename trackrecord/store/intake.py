"""The intake: one batch of outcomes, one transaction, each outcome counted exactly once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, select, update

from ..appraisal import Appraised
from ..learning.decay import DecayBasis, DecayRules
from .basis import basis_for_writing
from .bulk import insert_rows
from .tables import observations, outcomes, projects, waiting_episodes
from .pattern_sums import PatternDelta, add_pattern_deltas
from .transitions import Transition, TransitionRules, record_transitions


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


@dataclass
class _ProjectDelta:
    outcomes: int = 0
    successes: int = 0


@dataclass
class _Deltas:
    """What the new outcomes of a batch add up to."""

    projects: dict[int, _ProjectDelta] = field(default_factory=dict)
    patterns: dict[tuple[int, str], PatternDelta] = field(default_factory=dict)
    observations: list[tuple[tuple[int, str], float, int, float, str]] = field(
        default_factory=list
    )
    episodes: list[tuple[int, int]] = field(default_factory=list)

    def add(self, project_id: int, row_id: int, outcome: Appraised, basis: DecayBasis) -> None:
        project = self.projects.setdefault(project_id, _ProjectDelta())
        project.outcomes += 1
        project.successes += outcome.success
        if outcome.is_episode:
            self.episodes.append((project_id, row_id))
        if outcome.touches:
            weight = basis.weight(outcome.ended_at)
            for touch in outcome.touches:
                key = (project_id, touch.slug)
                delta = self.patterns.get(key)
                if delta is None:
                    delta = self.patterns[key] = PatternDelta()
                delta.add(touch, outcome.verdict, weight, outcome.ended_at)
                self.observations.append(
                    (key, outcome.received_at, row_id, outcome.ended_at, outcome.verdict)
                )


def learn(
    connection: Connection,
    batch: Sequence[Appraised],
    *,
    decay: DecayRules,
    transition_rules: TransitionRules,
    now: float,
) -> Learnt:
    """Record a batch and update every statistic from the outcomes that are really new.

    Args:
        connection: within a writing transaction; commit makes the batch learnt.
        batch: outcomes in any order; the first of several with one id counts.
        decay: the half-life, for the very first outcome.
        transition_rules: what a change of state is.
        now: the time of the batch, seconds since the epoch.
    """
    unique: dict[tuple[str, str], Appraised] = {}
    for outcome in batch:
        unique.setdefault((outcome.project, outcome.outcome_id), outcome)
    basis = basis_for_writing(connection, decay.half_life_days, now)
    project_ids = ensure_projects(connection, {project for project, _ in unique})
    recorded = _record(connection, project_ids, unique.values())

    deltas = _Deltas()
    for row_id, outcome in recorded:
        deltas.add(project_ids[outcome.project], row_id, outcome, basis)
    transitions = _write(connection, deltas, basis, transition_rules, now)
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
        insert_rows(connection, projects, columns, [(name, 0, 0, 0) for name in missing])
        known = {row.name: row.id for row in connection.execute(query)}
    return known


_RECORDED_COLUMNS = tuple(column for column in outcomes.c if column.name != "id")


def _record(
    connection: Connection, project_ids: dict[str, int], batch: Iterable[Appraised]
) -> list[tuple[int, Appraised]]:
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
            each.verdict.value,
            each.body,
        )
        for key, each in sorted(by_key.items(), key=lambda item: item[0])
    ]
    returning = (outcomes.c.id, outcomes.c.project_id, outcomes.c.outcome_id)
    inserted = insert_rows(connection, outcomes, _RECORDED_COLUMNS, rows, returning=returning)
    return sorted(
        ((row_id, by_key[project_id, outcome_id]) for row_id, project_id, outcome_id in inserted),
        key=lambda pair: pair[0],
    )


def _write(
    connection: Connection,
    deltas: _Deltas,
    basis: DecayBasis,
    transition_rules: TransitionRules,
    now: float,
) -> tuple[Transition, ...]:
    standings = add_pattern_deltas(connection, deltas.patterns)
    pattern_ids = {key: standing.id for key, standing in standings.items()}
    insert_rows(
        connection,
        observations,
        tuple(observations.c),
        sorted((pattern_ids[key], *rest) for key, *rest in deltas.observations),
    )
    insert_rows(connection, waiting_episodes, tuple(waiting_episodes.c), sorted(deltas.episodes))
    transitions = record_transitions(
        connection, standings.values(), transition_rules, basis=basis, now=now
    )
    for project_id, delta in sorted(deltas.projects.items()):
        connection.execute(
            update(projects)
            .where(projects.c.id == project_id)
            .values(
                revision=projects.c.revision + 1,
                outcomes=projects.c.outcomes + delta.outcomes,
                successes=projects.c.successes + delta.successes,
                last_learnt_at=now,
            )
        )
    return transitions
