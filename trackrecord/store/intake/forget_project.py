"""Forgetting a project: every row that is its own, in every table."""

from collections.abc import Mapping
from typing import Final

from sqlalchemy import Connection, Table, delete, func, select

from trackrecord.learning.text.words import indexed_words, lexemes

from ..advice.tables import (
    effect_decisions,
    exposures,
    hints,
    lesson_decisions,
    listed_runs,
    run_counts,
    runs,
    tried_calls,
)
from ..competences.tables import (
    competence_credits,
    competence_history,
    competence_numbers,
    competence_words,
    competences,
    consolidation_runs,
    episodes,
    removed_episodes,
    signature_facts,
    signatures,
)
from ..database.access_tokens import access_tokens
from ..database.full_text import MEMORY_WORDS, TASK_WORDS
from ..ledger.read import own_items
from ..ledger.subjects import CRITERION, PATTERN
from ..ledger.tables import items, receipts, totals
from ..memories.similar import lock_memories, words_of
from ..memories.tables import memories, memory_blocks, memory_changes, memory_sources, past_tasks
from ..outcomes.forgotten import Kind, digest_of_id, mark_forgotten
from ..outcomes.tables import (
    decay_bases,
    feedback,
    outcome_commits,
    outcome_entries,
    outcomes,
    project_imports,
    projects,
    recorded_rules,
    removed_outcomes,
    waiting_episodes,
    waiting_retractions,
)
from ..patterns.tables import pattern_decisions, pattern_tags, pattern_transitions

# Tables whose rows name the project, those first that refer to others.
OWN: Final[tuple[Table, ...]] = (
    runs, listed_runs, tried_calls, run_counts, exposures, hints, lesson_decisions,
    effect_decisions, competence_credits,
    competence_words, competence_numbers, competence_history, consolidation_runs, competences,
    episodes, signatures, waiting_episodes, waiting_retractions, receipts, items,
    memory_blocks, memories, past_tasks, feedback, outcome_commits,
    outcome_entries, outcomes, removed_outcomes, recorded_rules, decay_bases,
    project_imports,
)  # fmt: skip
# Tables whose rows name a row of another one: which, and by which column.
OWNED: Final[Mapping[Table, tuple[str, Table]]] = {
    totals: ("item", items),
    pattern_transitions: ("pattern_id", items),
    pattern_decisions: ("pattern_id", items),
    pattern_tags: ("pattern_id", items),
    signature_facts: ("signature_id", signatures),
    removed_episodes: ("signature_id", signatures),
    memory_changes: ("memory", memories),
    memory_sources: ("memory", memories),
}
# Tables whose rows name a project by its name: by which column.
NAMING: Final[Mapping[Table, str]] = {access_tokens: "project"}
_IDS: Final[Mapping[Kind, tuple[Table, str]]] = {
    "outcome": (outcomes, "outcome_id"),
    "exposure": (exposures, "exposure_id"),
    "hint": (hints, "hint_id"),
    "memory": (memories, "memory_id"),
    "feedback": (feedback, "feedback_id"),
}
_CHUNK: Final = 2000
_ROWS: Final = func.count()


def forget_project(connection: Connection, project: str, project_id: int, *, now: float) -> None:
    """Erase everything that is on record of a project, and the project itself.

    Args:
        connection: within a writing transaction that has locked the project.
        project: its name.
        project_id: its row.
        now: seconds since the epoch.
    """
    lock_memories(connection, project_id)
    for kind, (table, column) in _IDS.items():
        query = select(table.c[column]).where(table.c.project_id == project_id).distinct()
        ids = connection.execute(query.execution_options(yield_per=_CHUNK)).scalars()
        mark_forgotten(connection, [digest_of_id(kind, project, each) for each in ids], now)
    _leave_indexes(connection, project_id)
    for table, (column, owner) in OWNED.items():
        own = select(owner.c.id).where(owner.c.project_id == project_id)
        connection.execute(delete(table).where(table.c[column].in_(own)))
    for table in OWN:
        connection.execute(delete(table).where(table.c.project_id == project_id))
    forget_name(connection, project)
    connection.execute(delete(projects).where(projects.c.id == project_id))


def forget_name(connection: Connection, project: str) -> None:
    """Erase what names a project, which need not be on record: its access tokens."""
    for table, column in NAMING.items():
        connection.execute(delete(table).where(table.c[column] == project))


def count_of_name(connection: Connection, project: str) -> dict[str, int]:
    """Return how many rows name a project, which need not be on record."""
    return {
        table.name: connection.execute(
            select(func.count()).select_from(table).where(table.c[column] == project)
        ).scalar_one()
        for table, column in NAMING.items()
    }


def count_of_project(connection: Connection, project_id: int) -> dict[str, int]:
    """Return the counts of a project, in units that people know."""
    own = (outcomes, memories, exposures, hints, competences)
    such = {str(table.name): table.c.project_id == project_id for table in own}
    such |= {
        "patterns": own_items(project_id, PATTERN),
        "criteria": own_items(project_id, CRITERION),
    }
    return {
        name: connection.execute(
            select(
                func.count(outcomes.c.outcome_id.distinct()) if name == "outcomes" else _ROWS
            ).where(where)
        ).scalar_one()
        for name, where in such.items()
    }


def _leave_indexes(connection: Connection, project_id: int) -> None:
    """Take the project's rows out of the full-text indexes."""
    tasks = select(past_tasks.c.outcome, past_tasks.c.instruction).where(
        past_tasks.c.project_id == project_id, past_tasks.c.is_indexed
    )
    for row, text in connection.execute(tasks).all():
        TASK_WORDS.remove(connection, row, lexemes(project_id, indexed_words(text)))
    marked = select(memories).where(
        memories.c.project_id == project_id, memories.c.position.is_not(None)
    )
    for memory in connection.execute(marked).all():
        MEMORY_WORDS.remove(connection, *words_of(memory))
