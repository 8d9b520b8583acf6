"""`trackrecord memories`: short facts that agents store and recall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trackrecord.resources.memories import MEMORIES
from trackrecord.resources.project_store import read_project

from ..resource_commands import group_of
from ..trends import memory_trends


def _trends(ids: Sequence[str], project: str, at: float | None) -> Mapping[str, str]:
    with read_project(project) as it:
        return memory_trends(it.connection, it.settings, project, ids, at)


command = group_of(MEMORIES, trends=_trends)
