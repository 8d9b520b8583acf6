"""Changes of the tags that patterns are given by hand."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.errors import InvalidTag
from trackrecord.learning.patterns.tags import checked_tag
from trackrecord.queries.pattern_standings import pattern_slug
from trackrecord.queries.project_rows import project_row
from trackrecord.store.patterns.tags import change_tags

from .writing import changing


@dataclass(frozen=True)
class TaggedPattern:
    """A pattern's tags, and what changed.

    Attributes:
        id: the pattern.
        tags: its tags now, its kind apart, in alphabetical order.
        added: those that it did not have before.
        removed: those that it had before.
    """

    id: str
    tags: tuple[str, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]

    def to_document(self) -> dict[str, Any]:
        """Return the tags as a JSON object."""
        return dict(vars(self))


def tag_pattern(
    engine: Engine,
    settings: DaemonSettings,
    project: str,
    pattern_id: str,
    *,
    add: Iterable[str] = (),
    remove: Iterable[str] = (),
) -> TaggedPattern:
    """Tag a pattern; doing it again changes nothing.

    Args:
        engine: the store.
        settings: the rules, and the Redis server.
        project: the pattern's project.
        pattern_id: its id, that of its anti-pattern, or the beginning of either.
        add: tags that it gets.
        remove: tags that it loses.

    Raises:
        InvalidTag: a tag is invalid, there are too many, or none is given.
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no such pattern.
        AmbiguousId: several patterns' ids begin so.
    """
    added, removed = _checked("add", add), _checked("remove", remove)
    if not added and not removed:
        message = "no tag to add or to remove was given"
        raise InvalidTag(message)
    with changing(engine, settings, project) as connection:
        row = project_row(connection, project)
        slug = pattern_slug(connection, project, pattern_id)
        before, after = change_tags(
            connection, row, slug, add=added, remove=removed, now=time.time()
        )
    return TaggedPattern(
        slug, tuple(sorted(after)), tuple(sorted(after - before)), tuple(sorted(before - after))
    )


def _checked(name: str, given: Iterable[str]) -> list[str]:
    if isinstance(given, str):  # one tag, and not its letters
        given = (given,)
    if not isinstance(given, Iterable):
        message = f"{name} must be tags, not {given!r:.60}"
        raise InvalidTag(message)
    return [*map(checked_tag, given)]
