"""The answer that an agent gets: objects, prompt text, and how far to trust them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Self

import msgspec

from trackrecord.learning.competences.selection import selection_score
from trackrecord.learning.competences.texts import COMPETENCES_HEADING
from trackrecord.learning.memories.rules import MemoryRules
from trackrecord.learning.memories.texts import MEMORIES_HEADING, PAST_TASKS_HEADING
from trackrecord.learning.patterns.maturity import Maturity
from trackrecord.learning.patterns.texts import (
    ANTI_PATTERNS_HEADING,
    ANTI_PATTERNS_INTRODUCTION,
    PATTERN_HEADINGS,
    RECOMMENDED,
)
from trackrecord.learning.text.language import Language
from trackrecord.learning.text.words import similarity

from .budget import Candidate, choose_within, tokens_of
from .document import (
    RankedCompetence,
    RankedMemory,
    RankedPattern,
    RankedTask,
    RankingsDocument,
)
from .relevance import fitting_memories, similar_past_tasks

_ANTI_PATTERNS = 0
_PATTERNS = 1
_COMPETENCES = _PATTERNS + len(RECOMMENDED)
_MEMORIES = _COMPETENCES + 1
_PAST_TASKS = _MEMORIES + 1


# In front of the ids among all candidates.
_MEMORY = "memory:"
_TASK = "task:"


@dataclass(frozen=True)
class Rankings:
    """What an agent gets.

    Attributes:
        project: whose experience this is.
        patterns: recommended patterns that fitted, best first.
        anti_patterns: warnings that fitted, surest first.
        competences: competence records that fitted, best first.
        memories: memories that fitted, best first; with a task only those that have to do with it.
        past_tasks: similar past tasks that fitted, best first; none without a task.
        prompt: the text for the prompt, "" when there is nothing to say.
        tokens: how many tokens the text is counted as.
        left_out: how many entries did not fit the budget or the limit.
        over_budget: which of them did not fit the budget: their ids, best first.
        age_s: seconds since the rankings were computed, None when there are none.
        is_stale: whether Redis is away and this is what it said last.
        problem: why the answer is empty or stale, None when all is well.
    """

    project: str
    patterns: tuple[RankedPattern, ...] = ()
    anti_patterns: tuple[RankedPattern, ...] = ()
    competences: tuple[RankedCompetence, ...] = ()
    memories: tuple[RankedMemory, ...] = ()
    past_tasks: tuple[RankedTask, ...] = ()
    prompt: str = ""
    tokens: int = 0
    left_out: int = 0
    over_budget: tuple[str, ...] = ()
    age_s: float | None = None
    is_stale: bool = False
    problem: str | None = None

    @classmethod
    def empty(cls, project: str, *, problem: str | None) -> Self:
        """An answer that says nothing but why."""
        return cls(project=project, problem=problem)


def answer_from(
    document: RankingsDocument | None,
    *,
    project: str,
    problem: str | None,
    task: str | None,
    budget: int | None,
    limit: int | None,
    language: Language,
    now: float,
    memory_rules: MemoryRules = MemoryRules(),  # noqa: B008 - frozen
) -> Rankings:
    """Choose from a document what fits.

    Args:
        document: the project's rankings; None gives an empty answer.
        project: its name.
        problem: what kept the caller from a fresh document.
        task: the text of the task at hand, if any.
        budget: in tokens, None for no limit.
        limit: of each kind, None for no limit.
        language: of the text.
        now: seconds since the epoch.
        memory_rules: how memories are ranked for a task.
    """
    if document is None:
        return Rankings.empty(project, problem=problem)
    memories, past_tasks = document.memories, tuple[RankedTask, ...]()
    beyond = document.beyond
    if task:
        memories = fitting_memories(memories, task, memory_rules)
        past_tasks = similar_past_tasks(document.past_tasks, task)
        # What has nothing to do with the task is not left out for the budget's sake.
        beyond = {kind: count for kind, count in beyond.items() if kind != "memories"}
    there_are = (
        len(document.patterns)
        + len(document.anti_patterns)
        + len(document.competences)
        + len(memories)
        + len(past_tasks)
        + sum(beyond.values())
    )
    if limit is not None:
        limit = max(0, limit)
    patterns = document.patterns[:limit]
    anti_patterns = document.anti_patterns[:limit]
    competences = document.competences if not task else fitted(document.competences, task)
    competences = competences[:limit]
    memories, past_tasks = memories[:limit], past_tasks[:limit]
    chosen = choose_within(
        chain(
            _candidates(patterns, anti_patterns, competences, language),
            _lines(_MEMORIES, _MEMORY, memories, language),
            _lines(_PAST_TASKS, _TASK, past_tasks, language),
        ),
        _headings(language),
        budget,
    )
    return Rankings(
        project=project,
        patterns=tuple(each for each in patterns if each.id in chosen.ids),
        anti_patterns=tuple(each for each in anti_patterns if each.id in chosen.ids),
        competences=tuple(each for each in competences if each.id in chosen.ids),
        memories=tuple(each for each in memories if _MEMORY + each.id in chosen.ids),
        past_tasks=tuple(each for each in past_tasks if _TASK + each.id in chosen.ids),
        prompt=chosen.text,
        tokens=tokens_of(len(chosen.text)),
        left_out=there_are - len(chosen.ids),
        over_budget=chosen.over_budget,
        age_s=max(0.0, now - document.computed_at),
        is_stale=problem is not None,
        problem=problem,
    )


def fitted(competences: Iterable[RankedCompetence], task: str) -> tuple[RankedCompetence, ...]:
    """Competences ranked for a task: its similarity takes the place of the confidence."""
    rescored = (msgspec.structs.replace(each, score=_score_for(each, task)) for each in competences)
    return tuple(sorted(rescored, key=lambda each: (-each.score, each.id)))


def _score_for(competence: RankedCompetence, task: str) -> float:
    similar = similarity(task, (*competence.triggers, competence.instructions))
    return selection_score(
        applicability=competence.confidence if similar is None else similar,
        success=competence.success_rate,
        recency=competence.recency,
    )


def _candidates(
    patterns: Iterable[RankedPattern],
    anti_patterns: Iterable[RankedPattern],
    competences: Iterable[RankedCompetence],
    language: Language,
) -> Iterator[Candidate]:
    # Another version may know other states and languages: what has no line or section here is
    # left out, and never an agent's error.
    section_of = {state.value: _PATTERNS + i for i, state in enumerate(RECOMMENDED)}
    for each in anti_patterns:
        if language in each.lines:
            yield Candidate(_ANTI_PATTERNS, each.id, each.score, each.lines[language])
    for each in patterns:
        if language in each.lines and each.state in section_of:
            yield Candidate(section_of[each.state], each.id, each.score, each.lines[language])
    for record in competences:
        if language in record.lines:
            yield Candidate(_COMPETENCES, record.id, record.score, record.lines[language])


def _lines(
    section: int,
    prefix: str,
    entries: Iterable[RankedMemory | RankedTask],
    language: Language,
) -> Iterator[Candidate]:
    """Ids of memories and outcomes are whatever agents say: none is taken for another kind's."""
    for each in entries:
        if language in each.lines:
            yield Candidate(section, prefix + each.id, each.score, each.lines[language])


def _headings(language: Language) -> list[str]:
    introduction = f"{ANTI_PATTERNS_HEADING[language]}\n\n{ANTI_PATTERNS_INTRODUCTION[language]}\n"
    states: list[Maturity] = list(RECOMMENDED)
    return [
        introduction,
        *(PATTERN_HEADINGS[language][state] + "\n" for state in states),
        COMPETENCES_HEADING[language] + "\n",
        MEMORIES_HEADING[language] + "\n",
        PAST_TASKS_HEADING[language] + "\n",
    ]
