"""The memories that rankings carry: few, and those that count most."""

from typing import Final

from sqlalchemy import Connection

from trackrecord.learning.memories.rules import MemoryRules
from trackrecord.learning.numbers.speakers import tells_alone
from trackrecord.prompt.documents.presentation import present_memory
from trackrecord.prompt.documents.rankings_document import RankedMemory
from trackrecord.store.memories.read import (
    StoredMemory,
    count_memories,
    memory_speakers,
    strongest_memories,
)
from trackrecord.store.memories.write import list_memories

# In the rankings of a project.
MAX_RANKED: Final = 100


def ranked_memories(
    connection: Connection, project_id: int, rules: MemoryRules, *, now: float, at: float | None
) -> tuple[tuple[RankedMemory, ...], int, tuple[str, ...]]:
    """Return the memories with the highest effective confidence, and how many there are beyond.

    What another memory has superseded is no longer handed on.

    Returns:
        Last the ids of those that one source alone tells where there are several.
    """
    moment = now if at is None else at
    standing = _standing(connection, project_id, at)
    sources = memory_speakers(connection, project_id, standing)
    presented = (
        present_memory(
            memory.id,
            memory.text,
            memory.state,
            source=memory.sources[0] if memory.sources else None,
            rules=rules,
            now=moment,
        )
        for memory in standing
    )
    ranked = sorted(presented, key=lambda entry: (-entry.score, entry.id))[:MAX_RANKED]
    # Few projects have more than fit, and only those need counting.
    beyond = 0
    if len(ranked) == MAX_RANKED:
        beyond = max(0, count_memories(connection, project_id, at=at) - len(ranked))
    everyone = set().union(*sources.values())
    alone = (name for name, own in sources.items() if tells_alone(own, everyone))
    return tuple(ranked), beyond, tuple(sorted(alone))


def _standing(connection: Connection, project_id: int, at: float | None) -> list[StoredMemory]:
    if at is None:
        return strongest_memories(connection, project_id, limit=MAX_RANKED)
    then = list_memories(connection, project_id, at=at)
    return [memory for memory in then if memory.superseded_by is None]
