"""Memories in pages, and what brought the changes of one about."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection

from trackrecord.errors import InvalidRequest
from trackrecord.learning.memories.rules import MemoryType
from trackrecord.resources.access.project_store import Transaction, project_row
from trackrecord.resources.declaration.checks import AgentName, Choice, Share, checking
from trackrecord.resources.declaration.paging import Order
from trackrecord.store.advice.lesson_decisions import LessonRun, runs_named, tasks_of_exposures
from trackrecord.store.memories.browse import SORTED_BY, browse_memories

from .memories import Memory, MemoryChange, memory_filter


@dataclass(frozen=True)
class MemoryPage:
    """A page of a list of memories.

    Attributes:
        memories: these.
        total: how many there are.
    """

    memories: tuple[Memory, ...]
    total: int


@checking
def memory_page(
    it: Transaction,
    *,
    type: Choice[MemoryType] | None = None,  # noqa: A002 - what the rules call it
    source: AgentName | None = None,
    min_confidence: Share | None = None,
    content: str | None = None,
    order: Order | None = None,
    first: int = 0,
    limit: int,
) -> MemoryPage:
    """Return some memories of a project: newest first, or in an order of `list_memories`.

    Args:
        it: a reading transaction.
        type: only memories of this type.
        source: only memories that this agent stored.
        min_confidence: only memories with at least this stored confidence.
        content: only those that hold this text, whatever its case.
        order: by any key but the source.
        first: how many to skip.
        limit: the maximum number to return.

    Raises:
        UnknownProject: nothing is on record for the project.
        InvalidRequest: an argument is wrong, or pages cannot be sorted so.
    """
    order = order or Order("created", is_descending=True)
    if order.key not in SORTED_BY:
        message = f"pages of memories cannot be sorted by {order.key!r}"
        raise InvalidRequest(message)
    found, total = browse_memories(
        it.connection,
        it.project_id,
        memory_filter(type, source, min_confidence),
        it.settings.memories,
        content=content,
        key=order.key,
        is_descending=order.is_descending,
        first=first,
        limit=limit,
    )
    return MemoryPage(tuple(Memory.of(it, each) for each in found), total)


@dataclass(frozen=True)
class Causes:
    """The causes of a memory's changes.

    Attributes:
        runs: the runs that judged it, by the id of their outcome.
        tasks: the tasks that were handed it, by the id of the exposure.
    """

    runs: Mapping[str, LessonRun]
    tasks: Mapping[str, str]


def causes_of_changes(
    connection: Connection,
    project: str,
    changes: tuple[MemoryChange, ...],
) -> Causes:
    """Return the runs and tasks behind the changes of a memory.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    project_id = project_row(connection, project)
    names = {change.because_of for change in changes if change.because_of is not None}
    return Causes(
        runs_named(connection, project_id, names),
        tasks_of_exposures(connection, project_id, names),
    )
