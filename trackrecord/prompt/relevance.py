"""What of the cached memories and past tasks fits a task, by the words they share."""

from collections.abc import Iterable
from functools import lru_cache
from math import sqrt
from typing import TypeVar

import msgspec

from trackrecord.learning.memories.rules import MemoryRules, recall_rank
from trackrecord.learning.text.search_words import asked_words
from trackrecord.learning.text.words import words_of

from .document import RankedMemory, RankedTask

_Fitting = TypeVar("_Fitting", RankedMemory, RankedTask)

_TEXTS_REMEMBERED = 8192

_words_remembered = lru_cache(maxsize=_TEXTS_REMEMBERED)(words_of)
_asked_remembered = lru_cache(maxsize=64)(asked_words)


def fitting_memories(
    memories: Iterable[RankedMemory], task: str, rules: MemoryRules
) -> tuple[RankedMemory, ...]:
    """Memories that share words with a task, ranked as by recall; the rest is left out."""
    return _ranked(
        msgspec.structs.replace(
            each, score=recall_rank(rules, relevance, each.effective_confidence)
        )
        for each, relevance in _related(memories, task)
    )


def similar_past_tasks(tasks: Iterable[RankedTask], task: str) -> tuple[RankedTask, ...]:
    """Past tasks that share words with a task, the most similar first."""
    return _ranked(
        msgspec.structs.replace(each, score=relevance) for each, relevance in _related(tasks, task)
    )


def _ranked(entries: Iterable[_Fitting]) -> tuple[_Fitting, ...]:
    return tuple(sorted(entries, key=lambda each: (-each.score, each.id)))


def _related(entries: Iterable[_Fitting], task: str) -> list[tuple[_Fitting, float]]:
    """Those that share words with a task; their relevance is relative to the best."""
    asked = _asked_remembered(task)
    found = []
    for each in entries:
        words = _words_remembered(each.text)
        shared = len(asked & words)
        if shared:
            found.append((each, shared / sqrt(len(asked) * len(words))))
    best = max((relevance for _, relevance in found), default=1.0)
    return [(each, relevance / best) for each, relevance in found]
