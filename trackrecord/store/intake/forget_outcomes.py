"""Forgetting a source or a task: delete its rows, and recompute the sums.

What consolidation made of them is for consolidation to take back: it alone folds episodes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, Table, delete, func, select, update

from trackrecord.learning.numbers.speaker_names import speaker_named
from trackrecord.learning.rules_bundle import Rules
from trackrecord.wire.subject import Subject

from ..advice.exposures import memory_exposures_of_tasks
from ..advice.runs import drop_runs
from ..advice.tables import exposures, hints
from ..advice.worker_counts import drop_counts
from ..competences.tables import episodes
from ..memories.credit.feedback import cause_of
from ..memories.history import (
    drop_source,
    forget_memories,
    handed_out_by,
    judged_by,
    write_history,
)
from ..memories.memory_recalls import record_recalls
from ..memories.past_tasks import drop_past_tasks
from ..memories.similar import lock_memories, mark_new
from ..outcomes.decay_basis import read_bases
from ..outcomes.feedback.waiting_feedback import wait_for
from ..outcomes.forgotten import digest_of_id, mark_forgotten
from ..outcomes.tables import (
    feedback,
    outcome_commits,
    outcome_entries,
    outcomes,
    projects,
    waiting_episodes,
    waiting_retractions,
)
from ..patterns import history as pattern_history
from ..patterns.removed import forget_speaker
from .rebuild import rebuild_patterns
from .subjects import OnRecord

_AT_ONCE: Final = 500


@dataclass(frozen=True)
class Forgotten:
    """The result of forgetting.

    Attributes:
        signatures: the rows of the procedures that its episodes were of.
    """

    signatures: tuple[int, ...]


def forget_outcomes(
    connection: Connection,
    project_id: int,
    subject: Subject,
    found: OnRecord,
    rules: Rules,
    *,
    now: float,
) -> Forgotten:
    """Forget the records of a source or of a task.

    Every statistic of patterns, criteria, memories and advice is afterwards as if only the rest had
    ever come, by the rules of today.

    Args:
        connection: within a writing transaction that has locked the project.
        project_id: the row of the subject's project.
        subject: a source, or a task.
        found: what is on record of it.
        rules: the rules of today.
        now: seconds since the epoch.
    """
    lock_memories(connection, project_id)
    mark_new(connection, project_id, rules.memories)
    before = pattern_history.observed(connection, project_id)
    signatures = tuple(_signatures(connection, project_id, found.rows))
    causes = found.outcomes | {cause_of(each) for each in found.feedback}
    changed = {
        row.id: row
        for row in (
            *judged_by(connection, project_id, causes),
            *handed_out_by(connection, project_id, found.exposures),
        )
    }
    _erase_rows(connection, project_id, found)
    drop_counts(connection, project_id)
    if subject.what == "source":
        forget_speaker(connection, project_id, speaker_named(subject.name))
    _mark(connection, subject, found, now)
    if found.rows or found.feedback or found.observations:
        rebuild_patterns(connection, project_id, rules, now=now, is_history=False)
        _write_pattern_history(connection, project_id, before, rules)
    if found.rows:
        _learnt_last(connection, project_id)
    drop_source(connection, found.seconded, subject.name)
    forget_memories(connection, project_id, found.memories, rules.memories)
    gone = frozenset(found.memories)
    left = [row for _, row in sorted(changed.items()) if row.memory_id not in gone]
    for row in left:
        without = frozenset({*causes, *found.exposures, *gone})
        write_history(connection, row, without, rules.memories)
    # Another task may have been handed them on the same day: until now that had changed nothing.
    names = frozenset(row.memory_id for row in left)
    handed = memory_exposures_of_tasks(connection, project_id, names) if found.exposures else []
    record_recalls(connection, project_id, handed, rules=rules.memories)
    return Forgotten(signatures)


def _chunks(rows: Sequence[int]) -> Iterator[Sequence[int]]:
    return (rows[start : start + _AT_ONCE] for start in range(0, len(rows), _AT_ONCE))


def _signatures(connection: Connection, project_id: int, rows: Sequence[int]) -> list[int]:
    found: set[int] = set()
    for some in _chunks(rows):
        query = select(episodes.c.signature_id).where(
            episodes.c.project_id == project_id,
            episodes.c.outcome.in_(some),
            episodes.c.signature_id.is_not(None),
        )
        found.update(row for row in connection.execute(query).scalars() if row is not None)
    return sorted(found)


def _erase_rows(connection: Connection, project_id: int, found: OnRecord) -> None:
    for some in _chunks(found.rows):
        drop_past_tasks(connection, project_id, some)
        ended = select(outcomes.c.id, outcomes.c.ended_at).where(outcomes.c.id.in_(some))
        drop_runs(
            connection, project_id, [(row.id, row.ended_at) for row in connection.execute(ended)]
        )
        for table in (waiting_episodes, waiting_retractions, episodes):
            connection.execute(
                delete(table).where(table.c.project_id == project_id, table.c.outcome.in_(some))
            )
        connection.execute(delete(outcomes).where(outcomes.c.id.in_(some)))
    for table in (outcome_entries, outcome_commits):
        _erase_named(connection, table, "outcome_id", project_id, sorted(found.outcomes))
    _erase_named(connection, exposures, "exposure_id", project_id, sorted(found.exposures))
    _erase_named(connection, hints, "hint_id", project_id, found.hints)
    _erase_named(connection, feedback, "feedback_id", project_id, found.feedback)


def _erase_named(
    connection: Connection, table: Table, column: str, project_id: int, names: Sequence[str]
) -> None:
    for start in range(0, len(names), _AT_ONCE):
        connection.execute(
            delete(table).where(
                table.c.project_id == project_id,
                table.c[column].in_(names[start : start + _AT_ONCE]),
            )
        )


def _mark(connection: Connection, subject: Subject, found: OnRecord, now: float) -> None:
    project = subject.project
    mark_forgotten(
        connection,
        [
            *(digest_of_id("outcome", project, each) for each in found.outcomes),
            *(digest_of_id("exposure", project, each) for each in found.exposures),
            *(digest_of_id("hint", project, each) for each in found.hints),
            *(digest_of_id("memory", project, each) for each in found.memories),
            *(digest_of_id("feedback", project, each) for each in found.feedback),
        ],
        now,
    )


def _write_pattern_history(
    connection: Connection,
    project_id: int,
    before: dict[int, int],
    rules: Rules,
) -> None:
    """Rewrite the history of patterns that lost observations, and drop the empty ones."""
    after = pattern_history.observed(connection, project_id)
    touched = [row for row, count in before.items() if after.get(row) != count]
    dropped = pattern_history.drop_unobserved(connection, touched)
    # What is said of them waits until an outcome names them again.
    wait_for(connection, project_id, "pattern", dropped)
    bases = read_bases(connection, project_id)
    assert bases is not None  # noqa: S101 - the rebuild has just made it
    on_record = pattern_history.observed(connection, project_id)
    remaining = [row for row in touched if row in on_record]
    pattern_history.write_history(connection, remaining, rules, bases.patterns)


def _learnt_last(connection: Connection, project_id: int) -> None:
    """Note when the last outcome that remains was learnt."""
    last = select(func.max(outcomes.c.received_at)).where(outcomes.c.project_id == project_id)
    connection.execute(
        update(projects)
        .where(projects.c.id == project_id)
        .values(last_learnt_at=last.scalar_subquery())
    )
