"""Memories and past tasks as JSON shows them."""

from typing import Any

from trackrecord.learning.memories.rules import MemoryRules, effective_confidence
from trackrecord.store.memories.past_tasks import PastTask
from trackrecord.store.memories.read import Memory
from trackrecord.store.memories.recall import Recalled
from trackrecord.times import iso


def memory_document(rules: MemoryRules, memory: Memory, now: float) -> dict[str, Any]:
    """A memory, with its confidence as stored and as it counts at a moment."""
    return {
        "id": memory.id,
        "text": memory.text,
        "type": memory.state.type.value,
        "source": memory.sources[0] if memory.sources else None,
        "sources": list(memory.sources),
        "confidence": memory.state.confidence,
        "effective_confidence": effective_confidence(rules, memory.state, now),
        "created_at": iso(memory.created_at),
        "last_recalled_at": iso(memory.last_recalled_at),
        "superseded_by": memory.superseded_by,
        "supersedes": list(memory.supersedes),
    }


def recalled_document(rules: MemoryRules, recalled: Recalled, now: float) -> dict[str, Any]:
    """A memory that was recalled, with what it was ranked by."""
    return memory_document(rules, recalled.memory, now) | {
        "relevance": recalled.relevance,
        "score": recalled.rank,
    }


def task_document(task: PastTask) -> dict[str, Any]:
    """A past task, and how it ended."""
    return dict(vars(task)) | {"ended_at": iso(task.ended_at)}
