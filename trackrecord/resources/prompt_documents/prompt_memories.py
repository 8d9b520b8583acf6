"""The memories that rankings carry: few, and those that count most."""

from typing import Final

from sqlalchemy import Connection

from trackrecord.learning.memories.rules import MemoryRules
from trackrecord.learning.numbers.speakers import tells_alone
from trackrecord.prompt.documents.presentation import present_memory
from trackrecord.prompt.documents.rankings_document import RankedMemory
from trackrecord.store.memories.read import (
    count_memories,
    memory_speakers,
    strongest_memories,
)

# In the rankings of a project.
MAX_RANKED: Final = 100


def ranked_memories(
    connection: Connection, project_id: int, rules: MemoryRules, *, now: float
) -> tuple[tuple[RankedMemory, ...], int, tuple[str, ...]]:
    """Return the memories with the highest effective confidence, and how many there are beyond.

    What another memory has superseded is no longer handed on.

    Returns:
        Last the ids of those that one source alone tells where there are several.
    """
    standing = strongest_memories(connection, project_id, limit=MAX_RANKED)
    sources = memory_speakers(connection, project_id, standing)
    presented = (
        present_memory(
            memory.id,
            memory.text,
            memory.state,
            source=memory.sources[0] if memory.sources else None,
            rules=rules,
            now=now,
        )
        for memory in standing
    )
    ranked = sorted(presented, key=lambda entry: (-entry.score, entry.id))[:MAX_RANKED]
    # Few projects have more than fit, and only those need counting.
    beyond = 0
    if len(ranked) == MAX_RANKED:
        beyond = max(0, count_memories(connection, project_id) - len(ranked))
    everyone = set().union(*sources.values())
    alone = (name for name, own in sources.items() if tells_alone(own, everyone))
    return tuple(ranked), beyond, tuple(sorted(alone))
