"""The calls for memories. `remember`, which waits for nothing, is with what is published."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trackrecord.beside import awaited

from .here import store_here

if TYPE_CHECKING:
    from trackrecord.queries.memories import KnownMemory, RecalledMemory


def recall(
    text: str,
    *,
    limit: int = 5,
    min_confidence: float = 0.0,
    at: float | None = None,
    reset: bool = True,
    project: str | None = None,
) -> list[RecalledMemory]:
    """Return the memories that fit a text, best first.

    Args:
        text: the text that the memories are to fit.
        limit: the maximum number of memories to return.
        min_confidence: the minimum effective (decayed) confidence, from 0 to 1.
        at: a past moment to answer for, in seconds since the epoch.
        reset: whether the decay clock of the memories returned starts again; never with `at`.
        project: the memories' project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with store_here(project) as here:
        from trackrecord.queries.memories import recall_memories

        return recall_memories(
            here.engine,
            here.settings,
            here.project,
            text,
            limit=limit,
            min_confidence=min_confidence,
            at=at,
            reset=reset,
        )


def confirm_memory(memory_id: str, *, project: str | None = None) -> KnownMemory:
    """Note that a memory was right, and return it as it stands now.

    Args:
        memory_id: its id, or the beginning of it.
        project: the memory's project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with store_here(project) as here:
        from trackrecord.changes import memories

        return memories.confirm_memory(here.engine, here.settings, here.project, memory_id)


def reject_memory(memory_id: str, *, project: str | None = None) -> KnownMemory:
    """Note that a memory was wrong, and return it; one rejected often becomes a known pitfall.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with store_here(project) as here:
        from trackrecord.changes import memories

        return memories.reject_memory(here.engine, here.settings, here.project, memory_id)


def forget_memory(memory_id: str, *, project: str | None = None) -> str:
    """Erase a memory and its history, and return its whole id.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with store_here(project) as here:
        from trackrecord.changes import memories

        return memories.forget_memory(here.engine, here.project, memory_id)


arecall = awaited(recall)
aconfirm_memory = awaited(confirm_memory)
areject_memory = awaited(reject_memory)
aforget_memory = awaited(forget_memory)
