"""`trackrecord memories`: short facts that agents store and recall."""

from __future__ import annotations

from collections.abc import Sequence

from trackrecord.resources.access.project_store import read_project
from trackrecord.resources.experience.memories import MEMORIES, Memory

from ...output.trends import memory_trends
from ...resource_commands import group_of


def _trends(memories: Sequence[Memory], project: str, at: float | None) -> list[str]:
    ids = [each.id for each in memories]
    with read_project(project) as it:
        drawn = memory_trends(it.connection, it.settings, project, ids, at)
    return [drawn.get(each, "") for each in ids]


command = group_of(MEMORIES, drawn={"trend": _trends})
