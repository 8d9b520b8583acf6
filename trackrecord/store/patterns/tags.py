"""Tags of patterns in the store."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from sqlalchemy import ColumnElement, Connection, select, update

from trackrecord.learning.patterns.tags import changed_tags

from ..database.upsert import insert_rows
from ..outcomes.decay_basis import hold_bases
from ..outcomes.projects import clock_of, next_revision
from ..outcomes.tables import projects
from .decide import held_pattern
from .tables import pattern_tags, patterns

_GIVEN = (pattern_tags.c.pattern_id, pattern_tags.c.tag, pattern_tags.c.added_at)


def change_tags(
    connection: Connection,
    project_id: int,
    slug: str,
    *,
    add: Iterable[str],
    remove: Iterable[str],
    now: float,
) -> tuple[frozenset[str], frozenset[str]]:
    """Change a pattern's tags; return those before and those after.

    Args:
        connection: within a writing transaction.
        project_id: whose pattern.
        slug: which one.
        add: checked tags that it gets; those that it has already change nothing.
        remove: tags that it loses; those that it does not have change nothing.
        now: seconds since the epoch.

    Raises:
        UnknownId: there is no such pattern in the project.
        InvalidTag: a tag is to be added and removed, or there are too many.
    """
    # First, as an intake does: a rebuild, which drops patterns that nobody has tagged, waits.
    hold_bases(connection, project_id)
    row = held_pattern(connection, project_id, slug)
    of_pattern = pattern_tags.c.pattern_id == row.id
    before = frozenset(tags_of(connection, of_pattern).get(row.id, ()))
    after = changed_tags(before, add, remove)
    if after == before:
        return before, after
    added = [(row.id, tag, now) for tag in sorted(after - before)]
    insert_rows(connection, pattern_tags, _GIVEN, added)
    connection.execute(
        update(pattern_tags)
        .where(
            of_pattern, pattern_tags.c.tag.in_(before - after), pattern_tags.c.removed_at.is_(None)
        )
        .values(removed_at=now)
    )
    connection.execute(
        update(projects)
        .where(projects.c.id == project_id)
        .values(revision=next_revision(clock_of(now)))
    )
    return before, after


def tags_of(connection: Connection, where: ColumnElement[bool]) -> Mapping[int, tuple[str, ...]]:
    """Return the tags of patterns in alphabetical order, by row; those without any are missing.

    Args:
        connection: a reading transaction.
        where: which patterns.
    """
    told = pattern_tags.c
    query = (
        select(told.pattern_id, told.tag)
        .join(patterns, patterns.c.id == told.pattern_id)
        .where(where, told.removed_at.is_(None))
    )
    found: defaultdict[int, list[str]] = defaultdict(list)
    for row in connection.execute(query):
        found[row.pattern_id].append(row.tag)
    return {pattern_id: tuple(sorted(tags)) for pattern_id, tags in found.items()}
