"""Find the projects that have an id, so that an id alone is enough where only one has it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from msgspec.structs import replace
from sqlalchemy import Connection, select

from trackrecord.learning.text.slug import pattern_id_of
from trackrecord.resources.access.project_store import Transaction
from trackrecord.resources.access.short_ids import (
    FEWEST_CHARS,
    beginnings,
    matching,
    run_ids_by_parts,
)
from trackrecord.store.competences.tables import competence_history
from trackrecord.store.ledger.read import own_items
from trackrecord.store.ledger.subjects import CRITERION
from trackrecord.store.ledger.tables import items
from trackrecord.store.memories.tables import memories
from trackrecord.store.outcomes.projects import project_id_of, project_names
from trackrecord.store.outcomes.tables import outcomes, projects
from trackrecord.store.patterns.decide import are_known

CRITERION_PREFIX: Final = "criterion:"
# By kind: what stands in the column for an id that may be written in another way, too.
_NAMES: Final[dict[str, Callable[[str], str]]] = {
    "criterion": lambda given: given.removeprefix(CRITERION_PREFIX),
    "pattern": pattern_id_of,
}

# By kind: the column of the ids, and that of their project; and which rows of the table are such.
_STORED_IDS: Final[dict[str, tuple[Any, ...]]] = {
    "pattern": (items.c.name, items.c.project_id, are_known(None)),
    "record": (competence_history.c.competence_id, competence_history.c.project_id),
    "memory": (memories.c.memory_id, memories.c.project_id),
    "outcome": (outcomes.c.outcome_id, outcomes.c.project_id),
    "criterion": (items.c.name, items.c.project_id, own_items(None, CRITERION)),
}
_MOST_RECORDS: Final = 50


def projects_with_id(it: Transaction, kinds: Iterable[str], given: str) -> list[str]:
    """Return the projects that have an id, or one that begins so, in the order of their names.

    Args:
        it: a reading transaction; where its project has the id, others may be left out.
        kinds: "pattern", "record", "memory", "outcome", "criterion", "lesson" or "command".
        given: what was typed.
    """
    if "\0" in given:
        return []
    found: set[str] = set()
    for kind in kinds:
        computed = _COMPUTED.get(kind)
        if computed is None:
            owners = {*_with_stored_id(it.connection, kind, given)}
            if kind == "outcome" and ":" in given and not owners:
                owners = {*_with_computed_id(it, _has_run_by_parts, given)}
            found.update(owners)
        elif it.project not in found:
            found.update(_with_computed_id(it, computed, given))
    return sorted(found)


def _with_stored_id(connection: Connection, kind: str, given: str) -> Iterator[str]:
    """Look at the first id of each project from the given text on: an index has it."""
    column, of_project, *such = _STORED_IDS[kind]
    name = _NAMES[kind](given) if kind in _NAMES else given
    # As everywhere, fewer than four characters stand for themselves alone.
    is_whole = kind == "criterion" or len(name) < FEWEST_CHARS
    for start in (name,) if is_whole else beginnings(name):
        if kind == "record":  # its index does without the project
            query = (
                select(projects.c.name, column)
                .where(of_project == projects.c.id, column >= start)
                .distinct()
                .order_by(column)
                .limit(_MOST_RECORDS)
            )
        else:
            first = (
                select(column)
                .where(of_project == projects.c.id, column >= start, *such)
                .order_by(column)
                .limit(1)
                .scalar_subquery()
            )
            query = select(projects.c.name, first)
        for project, some_id in connection.execute(query):
            if some_id == start or (some_id and not is_whole and some_id.startswith(start)):
                yield project


def _with_computed_id(
    it: Transaction, has: Callable[[Transaction, str], bool], given: str
) -> Iterator[str]:
    if project_id_of(it.connection, it.project) is not None and has(it, given):
        yield it.project
        return
    for name in project_names(it.connection):
        if name != it.project and has(replace(it, project=name), given):
            yield name


def _has_run_by_parts(it: Transaction, given: str) -> bool:
    """Return whether a run is shown by such an id in tables: without its agent, both parts cut."""
    where = outcomes.c.project_id == it.project_id
    return bool(run_ids_by_parts(it.connection, outcomes.c.outcome_id, where, given))


def _has_lesson(it: Transaction, given: str) -> bool:
    from trackrecord.resources.experience.lessons import lessons_of

    found = lessons_of(it, everything=True)
    return bool(matching(given, {each.id for each in found} | _dismissed(it)))


def _has_command(it: Transaction, given: str) -> bool:
    from trackrecord.resources.experience.commands import commands_in

    found = commands_in(it, everything=True)
    return bool(matching(given, {each.id for each in found} | _dismissed(it)))


def _dismissed(it: Transaction) -> set[str]:
    """Return what is dismissed: it may not be found any more, and can be restored all the same."""
    from trackrecord.store.advice.lesson_decisions import dismissed_lessons

    return set(dismissed_lessons(it.connection, it.project_id))


# The kinds whose ids are in no one column.
_COMPUTED: Final[dict[str, Callable[[Transaction, str], bool]]] = {
    "command": _has_command,
    "lesson": _has_lesson,
}
