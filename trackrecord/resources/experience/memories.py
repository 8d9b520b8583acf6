"""Memories, short facts that agents share, and past tasks that are found by their text.

`remember`, which waits for nothing, is with what is published.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Self
from uuid import uuid4

import msgspec

from trackrecord.learning.memories.rules import (
    MAX_CANDIDATES,
    MemoryState,
    MemoryType,
    effective_confidence,
)
from trackrecord.resources.access.project_store import (
    Transaction,
    change_project,
    project_row,
    read_project,
    write_project,
)
from trackrecord.resources.declaration.checks import (
    AgentName,
    Choice,
    Few,
    FromInput,
    Limit,
    MemoryId,
    Share,
    Text,
)
from trackrecord.resources.declaration.paging import cursor_of, place_of, sorting_of
from trackrecord.resources.declaration.resource import Answer, Instant, Resource

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from trackrecord.store.memories.read import StoredMemory
    from trackrecord.store.memories.write import MemoryFilter


class MemoryPlace(NamedTuple):
    """A place in the order of memories: the newest first.

    Attributes:
        created_at: seconds since the epoch.
        row: the memory's row in the store.
    """

    created_at: float
    row: Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class Memory(Answer, frozen=True, kw_only=True):
    """A memory, and how far it is trusted at a moment.

    Attributes:
        id: unique in its project.
        text: what it says; that of a known pitfall begins by saying so.
        type: what it is.
        source: the agent that said so first; null if nobody is named.
        sources: the agents that said so, in the order in which they did.
        confidence: as it is stored; feedback alone changes it.
        effective_confidence: its confidence, decayed to the moment.
        created_at: when it was stored.
        last_recalled_at: when it was recalled last; null if it never was.
        superseded_by: the newer memory that contradicts it.
        supersedes: the older memories that it contradicts.
    """

    id: str
    text: str
    type: MemoryType
    source: str | None
    sources: tuple[str, ...]
    confidence: float
    effective_confidence: float
    created_at: Instant
    last_recalled_at: Instant | None
    superseded_by: str | None
    supersedes: tuple[str, ...]
    _row: int

    @classmethod
    def of(cls, transaction: Transaction, stored: StoredMemory, **more: Any) -> Self:  # noqa: ANN401 - a subclass's fields
        """Return a memory on record as an answer."""
        rules = transaction.settings.memories
        return cls.taken(
            stored,
            stored.state,
            source=stored.sources[0] if stored.sources else None,
            effective_confidence=effective_confidence(rules, stored.state, transaction.moment),
            _row=stored.row,
            **more,
        )

    @property
    def cursor(self) -> str:
        """The text that `after` takes for the memories that follow this one in a list."""
        return cursor_of(MemoryPlace(self.created_at, self._row))

    @property
    def state(self) -> MemoryState:
        """Where the memory stands, as the rules see it."""
        clock = self.created_at if self.last_recalled_at is None else self.last_recalled_at
        is_superseded = self.superseded_by is not None
        return MemoryState(self.type, self.confidence, clock, is_superseded=is_superseded)


class MemoryChange(Answer, frozen=True):
    """One recorded change of a memory, and how it then stood.

    Attributes:
        at: when.
        action: "stored", "recalled", "handed out", "confirmed", "rejected", "inverted",
            "superseded", or "now confirmed", "now rejected" or "now neither" where the outcome was
            amended.
        because_of: the outcome, or the newer memory, that brought it about.
        type: what it then was.
        confidence: as it then was.
    """

    at: Instant
    action: str
    because_of: str | None
    type: str
    confidence: float


class MemoryDetails(Memory, frozen=True, kw_only=True):
    """A memory with its history.

    Attributes:
        history: its changes, the first one first.
    """

    history: tuple[MemoryChange, ...]


class RecalledMemory(Memory, frozen=True, kw_only=True):
    """A memory that was recalled, and what it was ranked by.

    Attributes:
        relevance: how well it fits the question, 0..1.
        score: what it is ranked by.
    """

    relevance: float
    score: float


class AddedMemory(Memory, frozen=True, kw_only=True):
    """A memory that was handed in; the one on record where the project had it already.

    Attributes:
        is_new: whether it was stored.
        similarity: how alike the text and the one on record are, 0..1; null for a new one.
    """

    is_new: bool
    similarity: float | None


class ForgottenMemory(Answer, frozen=True):
    """A memory that was erased.

    Attributes:
        id: its whole id.
        forgotten: that it was.
    """

    id: str
    forgotten: Literal[True] = True


class PastTask(Answer, frozen=True):
    """A task of the past, and how it ended.

    Attributes:
        outcome_id: the outcome that says so.
        task_id: the task.
        instruction: the beginning of its text.
        success: whether it reached its goal.
        verdict: what its score stands for.
        raw_score: 0..1.
        ended_at: when it ended.
        relevance: how well it fits what was asked for, 0..1.
    """

    outcome_id: str
    task_id: str
    instruction: str
    success: bool
    verdict: str
    raw_score: float
    ended_at: Instant
    relevance: float


def memory_filter(
    type: Choice[MemoryType] | None,  # noqa: A002 - what the rules call it
    source: str | None,
    min_confidence: float | None,
) -> MemoryFilter:
    """Return the filter for memories of a type, from a source, with a minimum confidence."""
    from trackrecord.store.memories.write import MemoryFilter

    return MemoryFilter(MemoryType(type) if type else None, source, min_confidence)


def count_memories(
    *,
    type: Choice[MemoryType] | None = None,  # noqa: A002 - as above
    source: AgentName | None = None,
    min_confidence: Share | None = None,
    project: str | None = None,
) -> int:
    """Return how many memories `list_memories` returns without a limit.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with read_project(project) as it:
        from trackrecord.store.memories.write import count_matching

        wanted = memory_filter(type, source, min_confidence)
        return count_matching(it.connection, it.project_id, wanted)


def ids_beside(project: str, ids: list[str]) -> list[str]:
    """Return the ids of memories that the short ids of those given must not stand for."""
    with read_project(project) as it:
        from trackrecord.resources.access.short_ids import ids_next_to
        from trackrecord.store.memories.tables import memories

        where = memories.c.project_id == it.project_id
        return ids_next_to(it.connection, memories.c.memory_id, where, ids)


def _type_in_words(memory: Memory) -> str:
    return f"{memory.type.value}, superseded" if memory.superseded_by else memory.type.value


def _in_words(memory: Memory) -> str:
    return f"{memory.id}: {memory.type.value}, {memory.confidence:g}"


def _added_in_words(added: AddedMemory) -> str:
    if not added.is_new:
        return f"{added.id}: known already"
    return "\n".join([added.id, *(f"supersedes {older}" for older in added.supersedes)])


_COLUMNS = ("id", "type", "confidence", "effective_confidence", "source", "text")
_SECONDARY = ("effective_confidence", "source", "type")
MEMORIES = Resource(
    "memories", "Store, recall and judge short facts that agents share.", ids_beside
)


@MEMORIES.offers(
    "GET /memories",
    command="list",
    sorting=sorting_of(
        "memories", "id", id="id", name="text", type="type", confidence="confidence",
        effective_confidence="effective_confidence", source="source", created="created_at",
        last_seen="last_recalled_at",
    ),
    rank=lambda memory: -memory.created_at,
    in_pages=True,
    total=count_memories,
    columns=("created_at", *_COLUMNS),

    about="text",
    secondary=(*_SECONDARY, "confidence", "created_at"),
    cells={"type": _type_in_words},
    nothing="no memories to show in project {project!r}",
)  # fmt: skip
def list_memories(
    *,
    type: Choice[MemoryType] | None = None,  # noqa: A002 - as above
    source: AgentName | None = None,
    min_confidence: Share | None = None,
    limit: Limit | None = None,
    after: Text | None = None,
    project: str | None = None,
) -> list[Memory]:
    """List the memories of a project, newest first.

    Args:
        type: only memories of this type.
        source: only memories that this agent stored.
        min_confidence: only memories with at least this stored confidence.
        limit: the maximum number of memories to return; all when not given.
        after: the `cursor` of a memory: only the memories that follow it.
        project: the memories' project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with read_project(project) as it:
        from trackrecord.store.memories.write import list_memories as read_memories

        wanted = memory_filter(type, source, min_confidence)
        place = None if after is None else place_of(after, MemoryPlace)
        found = read_memories(it.connection, it.project_id, wanted, limit=limit, after=place)
        return [Memory.of(it, each) for each in found]


@MEMORIES.offers("GET /memories/{memory_id:path}")
def show_memory(memory_id: MemoryId, *, project: str | None = None) -> MemoryDetails:
    """Return a memory with its history.

    Args:
        memory_id: the memory's id, or the beginning of it.
        project: the memory's project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with read_project(project) as it:
        return details_of(it, memory_id)


def details_of(it: Transaction, memory_id: str) -> MemoryDetails:
    """Return a memory with its history, in a transaction that is open.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no such memory.
        AmbiguousId: several memories' ids begin so.
    """
    from trackrecord.store.memories.read import changes_of, find_memory

    whole = whole_memory_id(it.connection, it.project, memory_id)
    stored = find_memory(it.connection, it.project_id, whole)
    changes = changes_of(it.connection, stored.row, MemoryChange)
    return MemoryDetails.of(it, stored, history=tuple(changes))


@MEMORIES.offers(
    "POST /memories",
    command="add",
    permission="write",
    status=201,
    in_words=_added_in_words,
    option_help={"force": "Store the memory even if a similar one exists."},
)
def add_memory(
    text: Annotated[Text, FromInput("memory")],
    *,
    source: AgentName | None = None,
    force: bool = False,
    project: str | None = None,
) -> AddedMemory:
    """Store a memory, unless the project has it already.

    A text that contradicts an older memory supersedes it.

    Args:
        text: the memory's text. One that contradicts an older memory supersedes it.
        source: the agent that the memory comes from.
        force: whether the memory is stored even if a similar one exists.
        project: the project, which is made if need be; the settings' project when not given.

    Returns:
        The memory as it stands now. Unlike `remember`, this waits for the store.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with write_project(project) as it:
        from trackrecord.learning.text.redaction import redacted
        from trackrecord.store.intake.intake import ensure_projects
        from trackrecord.store.memories.write import remember

        found = remember(
            it.connection,
            ensure_projects(it.connection, [it.project])[it.project],
            redacted(text),
            memory_id=str(uuid4()),
            rules=it.settings.memories,
            now=it.moment,
            source=source,
            force=force,
        )
        return AddedMemory.of(it, found.memory, is_new=found.is_new, similarity=found.similarity)


@MEMORIES.offers(
    "POST /memories/{memory_id:path}/confirm",
    command="confirm",
    permission="write",
    in_words=_in_words,
)
def confirm_memory(memory_id: MemoryId, *, project: str | None = None) -> Memory:
    """Note that a memory was right.

    Args:
        memory_id: the memory's id, or the beginning of it.
        project: the memory's project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with change_project(project) as it:
        from trackrecord.store.memories.write import confirm

        return _judged(it, memory_id, confirm)


@MEMORIES.offers(
    "POST /memories/{memory_id:path}/reject",
    command="reject",
    permission="write",
    in_words=_in_words,
)
def reject_memory(memory_id: MemoryId, *, project: str | None = None) -> Memory:
    """Note that a memory was wrong; one that is rejected often becomes a known pitfall.

    Args:
        memory_id: the memory's id, or the beginning of it.
        project: the memory's project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with change_project(project) as it:
        from trackrecord.store.memories.write import reject

        return _judged(it, memory_id, reject)


def _judged(it: Transaction, memory_id: str, judge: Callable[..., StoredMemory]) -> Memory:
    whole, rules = whole_memory_id(it.connection, it.project, memory_id), it.settings.memories
    return Memory.of(it, judge(it.connection, it.project_id, whole, rules=rules, now=it.moment))


@MEMORIES.offers(
    "POST /memories/{memory_id:path}/forget",
    command="forget",
    permission="admin",
    answers=ForgottenMemory,
    in_words=lambda _: "forgotten",
)
def forget_memory(memory_id: MemoryId, *, project: str | None = None) -> str:
    """Erase a memory and its history.

    Args:
        memory_id: the memory's id, or the beginning of it.
        project: the memory's project; the settings' project when not given.

    Returns:
        The memory's whole id.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with change_project(project) as it:
        from trackrecord.store.memories.write import forget

        whole = whole_memory_id(it.connection, it.project, memory_id)
        forget(it.connection, it.project_id, whole, now=it.moment)
        return whole


@MEMORIES.offers("GET /recall")
def find_memories(
    text: Text,
    *,
    limit: Few = 5,
    min_confidence: Share = 0.0,
    project: str | None = None,
) -> list[RecalledMemory]:
    """Return the memories that fit a text, best first; nothing is changed by it.

    Args:
        text: the text that the memories are to fit.
        limit: the maximum number of memories to return, up to 1000.
        min_confidence: the minimum effective (decayed) confidence, from 0 to 1.
        project: the memories' project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with read_project(project) as it:
        from trackrecord.store.memories.recall import recall as find

        found = find(
            it.connection,
            it.project_id,
            text,
            rules=it.settings.memories,
            now=it.moment,
            limit=limit,
            min_confidence=min_confidence,
        )
        return [
            RecalledMemory.of(it, each.memory, relevance=each.relevance, score=each.rank)
            for each in found
        ]


@MEMORIES.offers(
    "POST /recall",
    command="recall",
    permission="write",
    sorting=sorting_of(
        "memories", "id", score="score", relevance="relevance", confidence="confidence",
        effective_confidence="effective_confidence", created="created_at",
    ),
    columns=("score", "relevance", *_COLUMNS),
    about="text",
    secondary=(*_SECONDARY, "relevance", "confidence", "score"),
    cells={"type": _type_in_words},
    nothing="no memory of project {project!r} fits this text",
    option_help={"reset": "Do not reset the decay clock of the memories returned."},
)  # fmt: skip
def recall(
    text: Text,
    *,
    limit: Few = 5,
    min_confidence: Share = 0.0,
    reset: bool = True,
    project: str | None = None,
) -> list[RecalledMemory]:
    """Recall the memories that fit a text, best first.

    Each memory returned counts in full again, unless that is switched off.

    Args:
        text: the text that the memories are to fit.
        limit: the maximum number of memories to return, up to 1000.
        min_confidence: the minimum effective (decayed) confidence, from 0 to 1.
        reset: whether the decay clock of the memories returned starts again.
        project: the memories' project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    found = find_memories(text, limit=limit, min_confidence=min_confidence, project=project)
    if found and reset:
        with write_project(project) as it:
            from trackrecord.store.memories.recall import reset_clocks

            rows = [each._row for each in found]
            reset_clocks(it.connection, rows, rules=it.settings.memories, now=it.moment)
    return found


@MEMORIES.offers(
    "GET /tasks/similar",
    rests_on=("outcomes", "texts"),
    sorting=sorting_of(
        "tasks", "outcome_id", relevance="relevance", task="task_id", score="raw_score",
        ended="ended_at",
    ),
)  # fmt: skip
def similar_tasks(text: Text, *, limit: Few = 5, project: str | None = None) -> list[PastTask]:
    """Find past tasks whose instruction fits a text, best first, and how they ended.

    A worker puts the words of a task into the index after it has learnt it.

    Args:
        text: the text of the task at hand.
        limit: the maximum number of tasks to return, up to 1000.
        project: the tasks' project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with read_project(project) as it:
        from trackrecord.store.memories.past_tasks import similar_tasks as find

        found = find(it.connection, it.project_id, text, most=MAX_CANDIDATES, limit=limit)
        return [PastTask(**vars(each)) for each in found]


def whole_memory_id(connection: Connection, project: str, given: str) -> str:
    """Return the id of the memory that an id, or the beginning of one, stands for.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no such memory.
        AmbiguousId: several memories' ids begin so.
    """
    from trackrecord.resources.access.short_ids import whole_stored_id
    from trackrecord.store.memories.tables import memories

    return whole_stored_id(
        connection,
        memories.c.memory_id,
        memories.c.project_id == project_row(connection, project),
        given,
        f"project {project!r} has no memory {given!r}",
        hint="`trackrecord memories list` shows its memories",
    )
