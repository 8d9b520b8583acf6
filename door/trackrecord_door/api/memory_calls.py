"""What HTTP offers of memories and past tasks, where it differs from the Python API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from trackrecord.calls.given import Moment

if TYPE_CHECKING:
    from trackrecord.queries.memories import RecalledMemory


def find_memories(
    *,
    text: str,
    limit: int = 5,
    min_confidence: float = 0.0,
    at: Moment | None = None,
    project: str,
) -> list[RecalledMemory]:
    """Return the memories that fit a text, best first; nothing is changed by it.

    Args:
        text: The text that the memories are to fit.
        limit: The maximum number of memories to return.
        min_confidence: The minimum effective (decayed) confidence, from 0 to 1.
        at: A past moment to answer for.
        project: The memories' project.
    """
    import trackrecord

    return trackrecord.recall(
        text, limit=limit, min_confidence=min_confidence, at=at, reset=False, project=project
    )


def forget_memory(*, memory_id: str, project: str) -> Mapping[str, Any]:
    """Erase a memory and its history.

    Args:
        memory_id: The memory's id, or the beginning of it.
        project: The memory's project.
    """
    import trackrecord

    return {"id": trackrecord.forget_memory(memory_id, project=project), "forgotten": True}


def task_document(task: Any) -> dict[str, Any]:  # noqa: ANN401 - imported with the store
    """Return a past task as JSON."""
    from trackrecord.queries.memories import task_document

    return task_document(task)
