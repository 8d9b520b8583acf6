"""The call that tags patterns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trackrecord.beside import awaited
from trackrecord.resources.checks import text_of
from trackrecord.resources.project_store import open_project

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trackrecord.changes.pattern_tags import TaggedPattern


def tag_pattern(
    pattern_id: str,
    *,
    add: Iterable[str] = (),
    remove: Iterable[str] = (),
    project: str | None = None,
) -> TaggedPattern:
    """Add tags to a pattern, or remove them; doing it again changes nothing.

    Args:
        pattern_id: the pattern's id, that of its anti-pattern, or the beginning of either.
        add: tags that it gets, each one line of at most 64 characters; letter case does not count.
        remove: tags that it loses.
        project: the pattern's project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    pattern_id = text_of("pattern_id", pattern_id)
    with open_project(project) as here:
        from trackrecord.changes import pattern_tags

        return pattern_tags.tag_pattern(
            here.engine, here.settings, here.project, pattern_id, add=add, remove=remove
        )


atag_pattern = awaited(tag_pattern)
