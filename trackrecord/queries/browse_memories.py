"""Memories in pages, and what brought the changes of one about."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.errors import InvalidRequest
from trackrecord.store.advice.causes import CausingRun, runs_named, tasks_of_exposures
from trackrecord.store.memories.browse import SORTED_BY, browse_memories
from trackrecord.store.memories.read import MemoryChange
from trackrecord.store.memories.write import MemoryFilter

from .memories import EVERY, KnownMemory
from .project_rows import project_row
from .sorting import Order


@dataclass(frozen=True)
class MemoryPage:
    """Some of the memories that are asked for.

    Attributes:
        memories: these.
        total: how many there are.
    """

    memories: tuple[KnownMemory, ...]
    total: int


def memory_page(
    connection: Connection,
    settings: DaemonSettings,
    project: str,
    *,
    wanted: MemoryFilter = EVERY,
    content: str | None = None,
    order: Order | None = None,
    first: int = 0,
    limit: int,
    at: float | None = None,
) -> MemoryPage:
    """Return some memories of a project: newest first, or in an order of `sorting.MEMORIES`.

    Args:
        connection: a reading transaction.
        settings: the rules.
        project: whose memories.
        wanted: which of them.
        content: only those that hold this text, whatever its case.
        order: by any key but the source.
        first: how many to skip.
        limit: the maximum number to return.
        at: a past moment to answer for.

    Raises:
        UnknownProject: nothing is on record for the project.
        InvalidRequest: pages cannot be sorted so.
    """
    order = order or Order("created", is_descending=True)
    if order.key not in SORTED_BY:
        message = f"pages of memories cannot be sorted by {order.key!r}"
        raise InvalidRequest(message)
    found, total = browse_memories(
        connection,
        project_row(connection, project),
        wanted,
        settings.memories,
        content=content,
        key=order.key,
        is_descending=order.is_descending,
        first=first,
        limit=limit,
        at=at,
    )
    moment = time.time() if at is None else at
    known = (KnownMemory.at(settings.memories, memory, moment) for memory in found)
    return MemoryPage(tuple(known), total)


@dataclass(frozen=True)
class Causes:
    """What brought the changes of a memory about.

    Attributes:
        runs: the runs that judged it, by the id of their outcome.
        tasks: the tasks that were handed it, by the id of the exposure.
    """

    runs: Mapping[str, CausingRun]
    tasks: Mapping[str, str]


def causes_of_changes(
    connection: Connection,
    project: str,
    changes: tuple[MemoryChange, ...],
    *,
    at: float | None = None,
) -> Causes:
    """Return the runs and tasks behind the changes of a memory.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    project_id = project_row(connection, project)
    names = {change.because_of for change in changes if change.because_of is not None}
    return Causes(
        runs_named(connection, project_id, names, at=at),
        tasks_of_exposures(connection, project_id, names),
    )
