"""From rankings to candidates: how each kind of what is learnt competes for a prompt."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from trackrecord.errors import InvalidCandidate
from trackrecord.learning.memories.rules import MemoryRules
from trackrecord.learning.text.language import Language

from .answer import fitted
from .candidates.candidate import Candidate
from .document import (
    RankedCompetence,
    RankedMemory,
    RankedPattern,
    RankedTask,
    RankingsDocument,
)
from .relevance import fitting_memories, similar_past_tasks

_Ranked = TypeVar("_Ranked", RankedPattern, RankedCompetence, RankedMemory, RankedTask)


@dataclass(frozen=True)
class Learnt:
    """What of a project's rankings competes.

    Attributes:
        candidates: the best of each kind, each with its line of prompt text.
        left_out: how many entries do not compete.
    """

    candidates: tuple[Candidate, ...] = ()
    left_out: int = 0


def learnt_candidates(
    document: RankingsDocument,
    *,
    task: str | None,
    most: int,
    language: Language,
    memory_rules: MemoryRules = MemoryRules(),  # noqa: B008 - frozen
) -> Learnt:
    """The best of each kind, as candidates that bring their own score.

    Args:
        document: a project's rankings.
        task: the text of the task at hand, if any; without one no past task is similar to it.
        most: how many of each kind compete.
        language: of their lines.
        memory_rules: how memories are ranked for a task.
    """
    competences, memories = document.competences, document.memories
    past_tasks: tuple[RankedTask, ...] = ()
    beyond = sum(document.beyond.values())
    if task:
        competences = fitted(competences, task)
        memories = fitting_memories(memories, task, memory_rules)
        past_tasks = similar_past_tasks(document.past_tasks, task)
        # What has nothing to do with the task would not compete anyway.
        beyond -= document.beyond.get("memories", 0)
    candidates = (
        *_competing(document.anti_patterns[:most], language, _of_anti_pattern),
        *_competing(document.patterns[:most], language, _of_pattern),
        *_competing(competences[:most], language, _of_competence),
        *_competing(memories[:most], language, _of_memory),
        *_competing(past_tasks[:most], language, _of_past_task),
    )
    there_are = (
        len(document.anti_patterns)
        + len(document.patterns)
        + len(competences)
        + len(memories)
        + len(past_tasks)
        + beyond
    )
    return Learnt(candidates, there_are - len(candidates))


def _competing(
    entries: Sequence[_Ranked], language: Language, made_of: Callable[[_Ranked, str], Candidate]
) -> list[Candidate]:
    """Entries as candidates; another version may have written some that are none here."""
    found = []
    for entry in entries:
        if line := entry.lines.get(language):
            try:
                found.append(made_of(entry, line))
            except InvalidCandidate:  # never an agent's error
                continue
    return found


def _of_anti_pattern(entry: RankedPattern, line: str) -> Candidate:
    return Candidate(
        id=entry.id, kind="anti_pattern", text=line, score=entry.score, content_type="markdown"
    )


def _of_pattern(entry: RankedPattern, line: str) -> Candidate:
    return Candidate(
        id=entry.id,
        kind="pattern",
        section=entry.state,
        text=line,
        score=entry.score,
        content_type="markdown",
    )


def _of_competence(entry: RankedCompetence, line: str) -> Candidate:
    return Candidate(
        id=entry.id, kind="competence", text=line, score=entry.score, content_type="markdown"
    )


def _of_memory(entry: RankedMemory, line: str) -> Candidate:
    return Candidate(
        id=entry.id, kind="memory", text=line, score=entry.score, content_type="markdown"
    )


def _of_past_task(entry: RankedTask, line: str) -> Candidate:
    # A memory of another kind: weighed as one, told apart by its id and its section.
    return Candidate(
        id=f"task:{entry.id}",
        kind="memory",
        section="past_task",
        text=line,
        score=entry.score,
        content_type="markdown",
    )
