"""Entries of the cached rankings that fit a task, by shared words."""

from collections.abc import Iterable
from functools import lru_cache
from typing import TypeVar

import msgspec

from trackrecord.learning.competences.selection import selection_score
from trackrecord.learning.memories.rules import recall_rank
from trackrecord.learning.text.search_words import asked_words
from trackrecord.learning.text.words import overlap, similarity, words_of

from ..documents.rankings_document import RankedCompetence, RankedMemory

_Entry = TypeVar("_Entry", RankedCompetence, RankedMemory)

_TEXTS_REMEMBERED = 8192

_words_remembered = lru_cache(maxsize=_TEXTS_REMEMBERED)(words_of)
_asked_remembered = lru_cache(maxsize=64)(asked_words)


def fitting_competences(
    competences: Iterable[RankedCompetence], task: str
) -> list[tuple[RankedCompetence, float]]:
    """Rank competences for a task: its similarity takes the place of the confidence.

    Each one stands beside its similarity, 0 where it has nothing to do with the task.
    """
    found = []
    for each in competences:
        similar = similarity(task, (*each.triggers, each.instructions))
        found.append(
            (msgspec.structs.replace(each, score=_score_of(each, similar)), similar or 0.0)
        )
    return _ranked(found)


def competences_by_meaning(
    competences: Iterable[tuple[RankedCompetence, float]],
) -> list[tuple[RankedCompetence, float]]:
    """Rank competences for a task: (cosine + 1)/2 takes the place of the confidence.

    Each one is given, and stands in the answer, beside its cosine.
    """
    return _ranked(
        (
            msgspec.structs.replace(each, score=_score_of(each, min(1.0, (cosine + 1.0) / 2.0))),
            cosine,
        )
        for each, cosine in competences
    )


def sharing_words(
    competences: Iterable[tuple[RankedCompetence, frozenset[str]]], task: str
) -> list[RankedCompetence]:
    """Return the competences that share a word with a task, each with all its words."""
    asked = _words_remembered(task)
    return [each for each, words in competences if not asked.isdisjoint(words)]


def words_of_competence(competence: RankedCompetence) -> frozenset[str]:
    """Return the words that a task is compared with."""
    return frozenset().union(*map(words_of, (*competence.triggers, competence.instructions)))


def _score_of(competence: RankedCompetence, similar: float | None) -> float:
    return selection_score(
        applicability=competence.confidence if similar is None else similar,
        success=competence.expected_success,
        recency=competence.recency,
    )


def fitting_memories(
    memories: Iterable[RankedMemory], task: str
) -> list[tuple[RankedMemory, float]]:
    """Return memories that share words with a task, ranked as by recall, with their relevance."""
    return _ranked(
        (
            msgspec.structs.replace(each, score=recall_rank(relevance, each.effective_confidence)),
            relevance,
        )
        for each, relevance in _related(memories, task)
    )


def _ranked(entries: Iterable[tuple[_Entry, float]]) -> list[tuple[_Entry, float]]:
    return sorted(entries, key=lambda each: (-each[0].score, each[0].id))


def _related(entries: Iterable[RankedMemory], task: str) -> list[tuple[RankedMemory, float]]:
    """Return the entries that share words with a task; relevance is relative to the best."""
    asked = _asked_remembered(task)
    found = []
    for each in entries:
        words = _words_remembered(each.text)
        # Most share none: a prompt is compared with a hundred.
        if not asked.isdisjoint(words):
            found.append((each, overlap(asked, words)))
    best = max((relevance for _, relevance in found), default=1.0)
    return [(each, relevance / best) for each, relevance in found]
