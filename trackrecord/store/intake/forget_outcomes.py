"""Forgetting a source or a task: take back what it added, and delete its rows.

What consolidation made of them is for consolidation to take back: it alone folds episodes.

The history of memories is written anew without what was forgotten. Confirming and rejecting stop at
bounds, so that a judgement cannot be subtracted: the changes that remain are gone through from the
first one on.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import Connection, Row, delete, func, insert, select, update

from trackrecord.learning.memories.comparison import CONFLICT_FROM, Likeness, compare
from trackrecord.learning.memories.rules import (
    MemoryRules,
    MemoryState,
    MemoryType,
    standing_at_any_time,
    superseded,
    without_prefix,
)
from trackrecord.learning.numbers.speaker_names import speaker_named
from trackrecord.learning.rules_bundle import Rules
from trackrecord.wire.subject import Subject

from ..advice.exposures import memory_exposures_of_tasks
from ..advice.runs import drop_runs
from ..advice.tables import exposures, hints
from ..advice.worker_counts import drop_counts
from ..competences.tables import episodes
from ..database.parts import delete_named, in_parts
from ..ledger.ledger import Ledger
from ..ledger.read import number_of
from ..ledger.receipts import FEEDBACK, OUTCOME
from ..ledger.subjects import SPEAKER_ITEM
from ..ledger.upkeep import without_totals
from ..memories.credit import JUDGES, SUPERSEDED, cause_of, replayed
from ..memories.past_tasks import drop_past_tasks
from ..memories.recall import HANDED_OUT, record_recalls
from ..memories.similar import lock_memories, mark_new, similar_memories
from ..memories.tables import memories, memory_changes, memory_sources
from ..memories.write import erase
from ..outcomes.feedback.feedback import feedback_entries, wait_for
from ..outcomes.forgotten import Kind, digest_of_id, mark_forgotten
from ..outcomes.projects import set_project
from ..outcomes.recorded_rules import held_bases
from ..outcomes.tables import (
    feedback,
    outcome_commits,
    outcome_entries,
    outcomes,
    waiting_episodes,
    waiting_retractions,
)
from ..patterns.decide import forget_patterns
from ..patterns.transitions import blank_numbers
from .rebase import move_landmark
from .rebuild import drop_untouched, recount
from .subjects import OnRecord

_RECALLED: Final = "recalled"


@dataclass(frozen=True)
class _Change:
    """A change of a memory, without where it led."""

    at: float
    action: str
    because_of: str | None
    last_recalled_at: float | None


def forget_memories(
    connection: Connection, project_id: int, memory_ids: Collection[str], rules: MemoryRules
) -> None:
    """Erase memories; those that they superseded are as if these had never been.

    Args:
        connection: within a writing transaction that holds the project's memories.
        project_id: whose memories.
        memory_ids: which ones.
        rules: where the others stand then.
    """
    gone = sorted(memory_ids)
    freed: list[Row[Any]] = []
    for some in in_parts(gone):
        own = memories.c.project_id == project_id
        freed += connection.execute(
            select(memories).where(own, memories.c.superseded_by.in_(some))
        ).all()
        for row in connection.execute(
            select(memories).where(own, memories.c.memory_id.in_(some)).order_by(memories.c.id)
        ).all():
            erase(connection, row)
    wait_for(connection, project_id, "memory", gone)
    for row in sorted(freed, key=lambda each: each.id):
        if row.memory_id not in memory_ids:
            write_history(connection, row, frozenset(gone), rules)


def drop_source(connection: Connection, rows: Collection[int], source: str) -> None:
    """Remove a source from memories that others had stored before."""
    is_theirs = memory_sources.c.source == source
    for some in in_parts(sorted(rows)):
        connection.execute(
            delete(memory_sources).where(memory_sources.c.memory.in_(some), is_theirs)
        )


def _changed_by(
    connection: Connection, project_id: int, actions: Collection[str], names: Collection[str]
) -> list[Row[Any]]:
    """The memories that outcomes have judged, or that have stayed fresh because of exposures."""
    found: set[int] = set()
    for some in in_parts(sorted(names)):
        query = (
            select(memory_changes.c.memory)
            .join(memories, memories.c.id == memory_changes.c.memory)
            .where(
                memories.c.project_id == project_id,
                memory_changes.c.action.in_(actions),
                memory_changes.c.because_of.in_(some),
            )
        )
        found.update(connection.execute(query).scalars())
    rows: list[Row[Any]] = []
    for part in in_parts(sorted(found)):
        of_part = select(memories).where(memories.c.id.in_(part)).order_by(memories.c.id)
        rows += connection.execute(of_part).all()
    return rows


def write_history(
    connection: Connection, row: Row[Any], without: frozenset[str], rules: MemoryRules
) -> None:
    """Rewrite a memory's changes.

    Args:
        connection: within a writing transaction that holds the project's memories.
        row: the memory as it is on record.
        without: the outcomes, exposures and memories that brought nothing about.
        rules: how far each change reaches.
    """
    table = memory_changes.c
    known = connection.execute(
        select(memory_changes).where(table.memory == row.id).order_by(table.number)
    ).all()
    first, *rest = [
        _Change(each.at, each.action, each.because_of, each.last_recalled_at) for each in known
    ]
    kept = [each for each in rest if each.because_of is None or each.because_of not in without]
    if len(kept) < len(rest) and not any(each.action == SUPERSEDED for each in kept):
        kept = _superseded_by_another(connection, row, kept, rest)
    written = _written([first, *kept], known[0], rules)
    connection.execute(delete(memory_changes).where(table.memory == row.id))
    connection.execute(insert(memory_changes), [{"memory": row.id} | each for each in written])
    last = written[-1]
    clock = last["last_recalled_at"] or row.created_at
    state = MemoryState(MemoryType(last["type"]), last["confidence"], clock)
    connection.execute(
        update(memories)
        .where(memories.c.id == row.id)
        .values(
            type=last["type"],
            confidence=last["confidence"],
            last_recalled_at=last["last_recalled_at"],
            superseded_by=last["superseded_by"],
            changes=last["number"],
            changed_at=last["at"],
            standing=standing_at_any_time(rules, state),
        )
    )


def _superseded_by_another(
    connection: Connection,
    row: Row[Any],
    kept: list[_Change],
    before: Sequence[_Change],
) -> list[_Change]:
    """Return the changes with that by which the next memory that contradicts it superseded it.

    Nothing did as long as the memory that is forgotten had.
    """
    if not any(each.action == SUPERSEDED for each in before):
        return kept
    plain = without_prefix(row.text)
    for other in sorted(
        similar_memories(connection, row.project_id, row.text, CONFLICT_FROM),
        key=lambda each: each.row.id,
    ):
        text = without_prefix(other.row.text)
        likeness = compare(plain, text, other.similarity)
        if other.row.id > row.id and likeness is Likeness.CONTRADICTS:
            at = other.row.created_at
            change = _Change(at, SUPERSEDED, other.row.memory_id, None)
            return sorted([*kept, change], key=lambda each: each.at)
    return kept


def _written(
    changes: Sequence[_Change], stored: Row[Any], rules: MemoryRules
) -> list[dict[str, Any]]:
    """Return the rows of a memory's changes, renumbered."""
    state = MemoryState(MemoryType(stored.type), stored.confidence, stored.at)
    recalled: float | None = None
    superseder: str | None = None
    rows: list[dict[str, Any]] = []
    told: list[_Change] = []
    for number, change in enumerate(changes, start=1):
        before = state
        action = change.action
        if action == SUPERSEDED:
            superseder = change.because_of
            state = superseded(rules, state)
            told.append(change)
        elif action in (_RECALLED, HANDED_OUT):
            recalled = change.last_recalled_at
        elif action in JUDGES:
            told.append(change)
            state = _judged(told, state, stored, rules)
            state = replace(state, is_superseded=superseder is not None)
        if action in ("rejected", "inverted"):
            action = "inverted" if state.type is not before.type else "rejected"
        rows.append(
            {
                "number": number,
                "at": change.at,
                "action": action,
                "because_of": change.because_of,
                "type": state.type.value,
                "confidence": state.confidence,
                "last_recalled_at": recalled,
                "superseded_by": superseder,
            }
        )
    return rows


def _judged(
    told: Sequence[_Change], state: MemoryState, stored: Row[Any], rules: MemoryRules
) -> MemoryState:
    """Return the state after the last of some changes.

    A judgement that amends another one takes effect in its place.
    """
    last = told[-1]
    judge = JUDGES[last.action]
    is_amendment = last.because_of is not None and any(
        each.because_of == last.because_of and each.action in JUDGES for each in told[:-1]
    )
    if is_amendment:
        first = MemoryState(MemoryType(stored.type), stored.confidence, stored.at)
        return replayed(first, ((each.action, each.because_of) for each in told), rules)
    return state if judge is None else judge(rules, state)


def forget_outcomes(
    connection: Connection,
    project_id: int,
    subject: Subject,
    found: OnRecord,
    rules: Rules,
    *,
    now: float,
    for_good: bool = True,
) -> list[int]:
    """Forget the records of a source or of a task.

    Every statistic of patterns, criteria, memories and advice is afterwards as if only the rest had
    ever come. Returns the rows of the procedures that its episodes were of.

    Args:
        connection: within a writing transaction that has locked the project.
        project_id: the row of the subject's project.
        subject: a source, or a task.
        found: what is on record of it.
        rules: the rules of today.
        now: seconds since the epoch.
        for_good: whether they do not come back when they are reported again.
    """
    lock_memories(connection, project_id)
    mark_new(connection, project_id, rules.memories)
    signatures = _signatures(connection, project_id, found.rows)
    causes = found.outcomes | {cause_of(each) for each in found.feedback}
    changed = {
        row.id: row
        for row in (
            *_changed_by(connection, project_id, JUDGES, causes),
            *_changed_by(connection, project_id, (HANDED_OUT,), found.exposures),
        )
    }
    _take_back(connection, project_id, subject, found, now)
    _erase_rows(connection, project_id, found)
    drop_counts(connection, project_id)
    if for_good:
        _mark(connection, subject, found, now)
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
    return signatures


def _keys(connection: Connection, rows: Sequence[int]) -> list[tuple[float, int]]:
    """Return when outcomes ended, each with its row."""
    query = select(outcomes.c.ended_at, outcomes.c.id)
    return [
        (row.ended_at, row.id)
        for some in in_parts(rows)
        for row in connection.execute(query.where(outcomes.c.id.in_(some)))
    ]


def _signatures(connection: Connection, project_id: int, rows: Sequence[int]) -> list[int]:
    found: set[int] = set()
    for some in in_parts(rows):
        query = select(episodes.c.signature_id).where(
            episodes.c.project_id == project_id,
            episodes.c.outcome.in_(some),
            episodes.c.signature_id.is_not(None),
        )
        found.update(row for row in connection.execute(query).scalars() if row is not None)
    return sorted(found)


def _erase_rows(connection: Connection, project_id: int, found: OnRecord) -> None:
    drop_past_tasks(connection, project_id, found.rows)
    drop_runs(connection, project_id, [(row, at) for at, row in _keys(connection, found.rows)])
    for table in (waiting_episodes, waiting_retractions, episodes):
        delete_named(connection, project_id, table.c.outcome, found.rows)
    delete_named(connection, project_id, outcomes.c.id, found.rows)
    for table in (outcome_entries, outcome_commits):
        delete_named(connection, project_id, table.c.outcome_id, sorted(found.outcomes))
    delete_named(connection, project_id, exposures.c.exposure_id, sorted(found.exposures))
    delete_named(connection, project_id, hints.c.hint_id, found.hints)
    delete_named(connection, project_id, feedback.c.feedback_id, found.feedback)


def _mark(connection: Connection, subject: Subject, found: OnRecord, now: float) -> None:
    named: dict[Kind, Iterable[str]] = {
        "outcome": found.outcomes,
        "exposure": found.exposures,
        "hint": found.hints,
        "memory": found.memories,
        "feedback": found.feedback,
    }
    digests = (
        digest_of_id(kind, subject.project, each) for kind, ids in named.items() for each in ids
    )
    mark_forgotten(connection, digests, now)


def _take_back(
    connection: Connection, project_id: int, subject: Subject, found: OnRecord, now: float
) -> None:
    """Count the records and the feedback no longer; drop what nothing else counts for."""
    bases = held_bases(connection, [project_id], alone=True).get(project_id)
    if bases is None:
        return
    # Whoever is about to note a change of state has counted what is forgotten, and sees it by this.
    bases = move_landmark(connection, project_id, bases, max(now, bases.landmark))
    ledger = Ledger(connection, {project_id: bases})
    touched = set(ledger.take_back(project_id, OUTCOME, _keys(connection, found.rows)))
    told = feedback_entries(connection, project_id, found.feedback)
    touched |= ledger.take_back(project_id, FEEDBACK, [(of.ended_at, of.number) for of in told])
    if subject.what == "source":
        name = speaker_named(subject.name)
        speaker = number_of(connection, project_id, SPEAKER_ITEM, name)
        if speaker is not None:
            touched |= ledger.take_back_removed(project_id, speaker)
    ledger.write()
    for part in in_parts(sorted(touched)):
        blank_numbers(connection, part)
    forget_patterns(connection, without_totals(connection, touched, told_counts=False))
    drop_untouched(connection, project_id)
    if touched or found.feedback:
        recount(connection, project_id, now)


def _learnt_last(connection: Connection, project_id: int) -> None:
    """Note when the last outcome that remains was learnt."""
    last = select(func.max(outcomes.c.received_at)).where(outcomes.c.project_id == project_id)
    set_project(connection, project_id, last_learnt_at=last.scalar_subquery())
