"""Find the projects that have an id, so that an id alone is enough where only one has it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from msgspec.structs import replace
from sqlalchemy import Connection, select

from trackrecord.learning.strategies.identity import pattern_id_of
from trackrecord.resources.access.completions import STORED_IDS
from trackrecord.resources.access.project_store import Transaction
from trackrecord.resources.access.short_ids import beginnings, matching
from trackrecord.store.outcomes.projects import project_id_of, project_names
from trackrecord.store.outcomes.tables import projects

CRITERION_PREFIX: Final = "criterion:"


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
            found.update(_with_stored_id(it.connection, kind, given))
        elif it.project not in found:
            found.update(_with_computed_id(it, computed, given))
    return sorted(found)


def _with_stored_id(connection: Connection, kind: str, given: str) -> Iterator[str]:
    """Look at the first id of each project from the given text on: an index has it."""
    column, of_project = STORED_IDS[kind]
    name = pattern_id_of(given) if kind == "pattern" else given.removeprefix(CRITERION_PREFIX)
    is_whole = kind == "criterion"
    for start in (name,) if is_whole else beginnings(name):
        first = (
            select(column)
            .where(of_project == projects.c.id, column >= start)
            .order_by(column)
            .limit(1)
            .scalar_subquery()
        )
        for row in connection.execute(select(projects.c.name, first)):
            if row[1] is not None and (row[1] == start if is_whole else _is_so(row[1], start)):
                yield row[0]


def _is_so(some_id: str, start: str) -> bool:
    return bool(matching(start, [some_id]))


def _with_computed_id(
    it: Transaction, ids_of: Callable[[Transaction], Iterable[str]], given: str
) -> Iterator[str]:
    own = project_id_of(it.connection, it.project) is not None
    if own and matching(given, ids_of(it)):
        yield it.project
        return
    for name in project_names(it.connection):
        if name != it.project and matching(given, ids_of(replace(it, project=name))):
            yield name


def _lessons(it: Transaction) -> set[str]:
    from .lessons import lessons_of

    return _decided(it) | {each.id for each in lessons_of(it, everything=True)}


def _commands(it: Transaction) -> set[str]:
    from .commands import commands_in

    return _decided(it) | {each.id for each in commands_in(it, everything=True)}


def _decided(it: Transaction) -> set[str]:
    """Return what is dismissed: it may not be found any more, and can be restored all the same."""
    from trackrecord.store.advice.lesson_decisions import dismissed_lessons

    return set(dismissed_lessons(it.connection, it.project_id))


# The kinds whose ids are in no column: they are worked out of the runs.
_COMPUTED: Final[dict[str, Callable[[Transaction], set[str]]]] = {
    "command": _commands,
    "lesson": _lessons,
}
