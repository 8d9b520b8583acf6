"""Completions of a text that is being typed: names and ids that begin with it."""

from collections.abc import Callable, Iterable
from typing import Final

from sqlalchemy import Column, ColumnElement, Connection, select

from trackrecord.learning.strategies.identity import pattern_id_of
from trackrecord.learning.text.slug import ANTI_PREFIX
from trackrecord.store.competences.tables import competence_history
from trackrecord.store.criteria.tables import criteria
from trackrecord.store.database.access_tokens import access_tokens
from trackrecord.store.memories.tables import memories
from trackrecord.store.outcomes.projects import project_names
from trackrecord.store.outcomes.tables import outcomes
from trackrecord.store.patterns.tables import patterns

from .project_rows import project_row

MOST: Final = 50
# Of the newest outcomes: there is no index by task.
_TASKS_FROM: Final = 2000

# By kind: the column of the ids, and that of their project.
STORED_IDS: Final = {
    "pattern": (patterns.c.slug, patterns.c.project_id),
    "record": (competence_history.c.competence_id, competence_history.c.project_id),
    "memory": (memories.c.memory_id, memories.c.project_id),
    "outcome": (outcomes.c.outcome_id, outcomes.c.project_id),
    "criterion": (criteria.c.name, criteria.c.project_id),
}


def completions(connection: Connection, kind: str, project: str, typed: str) -> list[str]:
    """Return some of the names or ids that begin with a text.

    Args:
        connection: a reading transaction.
        kind: "project", "pattern", "record", "memory", "outcome", "criterion", "task" or "token".
        project: whose ids; any, for projects and for tokens, which are valid ones.
        typed: the beginning; "" for any.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    if kind == "project":
        return _beginning(project_names(connection), typed)
    if kind == "token":
        return _from(connection, access_tokens.c.id, access_tokens.c.revoked_at.is_(None), typed)
    project_id = project_row(connection, project)
    if kind in _READS:
        return _READS[kind](connection, project_id, typed)
    column, of_project = STORED_IDS[kind]
    return _from(connection, column, of_project == project_id, typed)


def _from(
    connection: Connection, column: Column[str], where: ColumnElement[bool], typed: str
) -> list[str]:
    query = select(column).where(where, column >= typed).distinct().order_by(column).limit(MOST)
    return _beginning(connection.execute(query).scalars(), typed)


def _patterns(connection: Connection, project_id: int, typed: str) -> list[str]:
    """Return ids of patterns, or of anti-patterns where one is being typed."""
    where = patterns.c.project_id == project_id
    if not typed.startswith(ANTI_PREFIX):
        return _from(connection, patterns.c.slug, where, typed)
    slugs = _from(connection, patterns.c.slug, where, pattern_id_of(typed))
    return [f"{ANTI_PREFIX}{slug}" for slug in slugs]


def _tasks(connection: Connection, project_id: int, typed: str) -> list[str]:
    query = (
        select(outcomes.c.task_id)
        .where(outcomes.c.project_id == project_id)
        .order_by(outcomes.c.received_at.desc())
        .limit(_TASKS_FROM)
    )
    return _beginning(dict.fromkeys(connection.execute(query).scalars()), typed)


_READS: Final[dict[str, Callable[[Connection, int, str], list[str]]]] = {
    "pattern": _patterns,
    "task": _tasks,
}


def _beginning(names: Iterable[str], typed: str) -> list[str]:
    return [name for name in names if name.startswith(typed)][:MOST]
