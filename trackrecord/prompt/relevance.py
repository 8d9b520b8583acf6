"""What of the cached rankings fits a task, by the words they share."""

from collections.abc import Iterable
from functools import lru_cache
from typing import TypeVar

import msgspec

from trackrecord.learning.competences.selection import selection_score
from trackrecord.learning.memories.rules import MemoryRules, recall_rank
from trackrecord.learning.text.search_words import asked_words
from trackrecord.learning.text.words import overlap, similarity, words_of

from .document import RankedCompetence, RankedMemory, RankedTask

_Entry = TypeVar("_Entry", RankedCompetence, RankedMemory, RankedTask)
_Text = TypeVar("_Text", RankedMemory, RankedTask)

_TEXTS_REMEMBERED = 8192

_words_remembered = lru_cache(maxsize=_TEXTS_REMEMBERED)(words_of)
_asked_remembered = lru_cache(maxsize=64)(asked_words)


def fitting_competences(
    competences: Iterable[RankedCompetence], task: str, _rules: MemoryRules
) -> tuple[RankedCompetence, ...]:
    """Rank competences for a task: its similarity takes the place of the confidence."""
    return _ranked(
        msgspec.structs.replace(each, score=_score_for(each, task)) for each in competences
    )


def _score_for(competence: RankedCompetence, task: str) -> float:
    similar = similarity(task, (*competence.triggers, competence.instructions))
    return selection_score(
        applicability=competence.confidence if similar is None else similar,
        success=competence.expected_success,
        recency=competence.recency,
    )


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


def similar_past_tasks(
    tasks: Iterable[RankedTask], task: str, _rules: MemoryRules
) -> tuple[RankedTask, ...]:
    """Past tasks that share words with a task, the most similar first."""
    return _ranked(
        msgspec.structs.replace(each, score=relevance) for each, relevance in _related(tasks, task)
    )


def _ranked(entries: Iterable[_Entry]) -> tuple[_Entry, ...]:
    return tuple(sorted(entries, key=lambda each: (-each.score, each.id)))


def _related(entries: Iterable[_Text], task: str) -> list[tuple[_Text, float]]:
    """Those that share words with a task; their relevance is relative to the best."""
    asked = _asked_remembered(task)
    found = []
    for each in entries:
        words = _words_remembered(each.text)
        if not asked.isdisjoint(words):
            found.append((each, overlap(asked, words)))
    best = max((relevance for _, relevance in found), default=1.0)
    return [(each, relevance / best) for each, relevance in found]
