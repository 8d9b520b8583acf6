"""The calls for memories. `remember`, which waits for nothing, is with what is published."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from trackrecord.beside import awaited

from .given import (
    Moment,
    limit_of,
    moment_of,
    optional_choice_of,
    optional_limit_of,
    optional_text_of,
    share_of,
    text_of,
)
from .here import store_here

if TYPE_CHECKING:
    from trackrecord.changes.memories import AddedMemory
    from trackrecord.queries.memories import KnownMemory, RecalledMemory
    from trackrecord.store.memories.past_tasks import PastTask

_TYPES = ("memory", "anti-pattern")
_MOST = 1000
_MOST_CHARS = 256


def recall(
    text: str,
    *,
    limit: int = 5,
    min_confidence: float = 0.0,
    at: Moment | None = None,
    reset: bool = True,
    project: str | None = None,
) -> list[RecalledMemory]:
    """Return the memories that fit a text, best first.

    Args:
        text: the text that the memories are to fit.
        limit: the maximum number of memories to return, up to 1000.
        min_confidence: the minimum effective (decayed) confidence, from 0 to 1.
        at: a past moment to answer for.
        reset: whether the decay clock of the memories returned starts again; never with `at`.
        project: the memories' project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    text = text_of("text", text)
    limit = limit_of(limit, most=_MOST)
    least, moment = share_of("min_confidence", min_confidence), moment_of(at)
    with store_here(project) as here:
        from trackrecord.changes.memories import recall_and_reset

        return recall_and_reset(
            here.engine,
            here.settings,
            here.project,
            text,
            limit=limit,
            min_confidence=least,
            at=moment,
            reset=reset,
        )


def list_memories(
    *,
    type: Literal["memory", "anti-pattern"] | None = None,  # noqa: A002 - what the rules call it
    source: str | None = None,
    min_confidence: float | None = None,
    at: Moment | None = None,
    limit: int | None = None,
    after: str | None = None,
    project: str | None = None,
) -> list[KnownMemory]:
    """Return the memories of a project, newest first.

    Args:
        type: only memories of this type.
        source: only memories that this agent stored.
        min_confidence: only memories with at least this stored confidence.
        at: a past moment to answer for.
        limit: the maximum number of memories to return; all when not given.
        after: the `cursor` of a memory: only the memories that follow it.
        project: the memories' project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    kind = optional_choice_of("type", type, _TYPES)
    source, limit = optional_text_of("source", source), optional_limit_of(limit)
    least = None if min_confidence is None else share_of("min_confidence", min_confidence)
    moment, after = moment_of(at), optional_text_of("after", after)
    with store_here(project) as here:
        from trackrecord.queries import memories

        wanted = memories.memory_filter(type=kind, source=source, min_confidence=least)
        return memories.list_memories(
            here.engine,
            here.settings,
            here.project,
            wanted=wanted,
            at=moment,
            limit=limit,
            after=after,
        )


def add_memory(
    text: str, *, source: str | None = None, force: bool = False, project: str | None = None
) -> AddedMemory:
    """Store a memory unless the project has it already, and return it as it stands now.

    Unlike `remember`, it waits for the store and raises.

    Args:
        text: the memory's text. One that contradicts an older memory supersedes it.
        source: the agent that the memory comes from.
        force: whether the memory is stored even if a similar one exists.
        project: the project, which is made if need be; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    text, source = text_of("text", text), optional_text_of("source", source, most=_MOST_CHARS)
    with store_here(project) as here:
        from trackrecord.changes import memories

        return memories.add_memory(
            here.engine, here.settings, here.project, text, source=source, force=force
        )


def confirm_memory(memory_id: str, *, project: str | None = None) -> KnownMemory:
    """Note that a memory was right, and return it as it stands now.

    Args:
        memory_id: its id, or the beginning of it.
        project: the memory's project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    memory_id = text_of("memory_id", memory_id)
    with store_here(project) as here:
        from trackrecord.changes import memories

        return memories.confirm_memory(here.engine, here.settings, here.project, memory_id)


def reject_memory(memory_id: str, *, project: str | None = None) -> KnownMemory:
    """Note that a memory was wrong, and return it; one rejected often becomes a known pitfall.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    memory_id = text_of("memory_id", memory_id)
    with store_here(project) as here:
        from trackrecord.changes import memories

        return memories.reject_memory(here.engine, here.settings, here.project, memory_id)


def forget_memory(memory_id: str, *, project: str | None = None) -> str:
    """Erase a memory and its history, and return its whole id.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    memory_id = text_of("memory_id", memory_id)
    with store_here(project) as here:
        from trackrecord.changes import memories

        return memories.forget_memory(here.engine, here.project, memory_id)


def similar_tasks(
    text: str, *, limit: int = 5, at: Moment | None = None, project: str | None = None
) -> list[PastTask]:
    """Return the past tasks whose instruction fits a text, best first, and how they ended.

    Args:
        text: the text of the task at hand.
        limit: the maximum number of tasks to return, up to 1000.
        at: a past moment to answer for.
        project: the tasks' project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    text = text_of("text", text)
    limit, moment = limit_of(limit, most=_MOST), moment_of(at)
    with store_here(project) as here:
        from trackrecord.changes.memories import find_similar_tasks

        return find_similar_tasks(
            here.engine, here.settings, here.project, text, limit=limit, at=moment
        )


aadd_memory = awaited(add_memory)
arecall = awaited(recall)
alist_memories = awaited(list_memories)
aconfirm_memory = awaited(confirm_memory)
areject_memory = awaited(reject_memory)
aforget_memory = awaited(forget_memory)
asimilar_tasks = awaited(similar_tasks)
