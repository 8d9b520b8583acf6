"""Lessons that match the words of a task: a tool, a name, or most of an error's words."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import Final

from trackrecord.learning.advice.tasks.task_index import idf
from trackrecord.learning.text.words import names_in, words_of

from ..documents.advice_document import AdviceDocument

# More than half of the words of an error, or of a tool's name.
_MOST: Final = 0.5
# A word that more lessons or tools have tells none of them apart.
_MOST_HOLDERS: Final = 100
# Of what a shell runs, the command is what a task names.
_SHELL: Final = "shell:"

_SENTENCE_END: Final = re.compile(r"[.!?;]\s|\n|[。！？；]")

# For each word, what it stands in, each with the word's part of the weight of all its words.
_Parts = dict[str, list[tuple[str, float]]]


@dataclass
class _LessonIndex:
    """An index of lessons by their words.

    Attributes:
        errors: the words of their errors that are not their tools', by lesson; a word counts the
            more, the fewer lessons have it.
        tools: the words of their tools' names, by tool; a word counts the more, the fewer tasks'
            texts have it.
        names: the lessons that have a name.
        of_tool: the lessons about a tool.
        occasional: the lessons about tools that mostly work.
    """

    errors: _Parts = field(default_factory=lambda: defaultdict(list))
    tools: _Parts = field(default_factory=lambda: defaultdict(list))
    names: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    of_tool: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    occasional: set[str] = field(default_factory=set)


def lessons_named(advice: AdviceDocument, task: str) -> dict[str, float]:
    """Return the lessons that a task's own words name, by id, each with how well they name it.

    A lesson is named by its tool, as in "npm install fails" or "book a flight" for
    "book_reservation"; by a name that it shares with the task ("ERESOLVE", "vite.config.ts"); or by
    more than half of the words of its error, where rare words count more. A tool whose name is a
    single word, as "edit" or "find", is named only where a word of its error is, too, and where it
    mostly works not even then. Words belong together within a sentence or a line: a long text has
    most words somewhere.
    """
    index = advice.once("lesson index", _index)
    words = sorted(words_of(task))
    anywhere, tools = _covered(index.errors, words), _covered(index.tools, words)
    found: dict[str, float] = {}
    # No sentence has more than the whole: hardly any task needs to be taken apart.
    if max((*anywhere.values(), *tools.values()), default=0.0) > _MOST:
        for sentence in dict.fromkeys(_SENTENCE_END.split(task)):
            for lesson, share in _named_in(index, sorted(words_of(sentence))):
                found[lesson] = max(share, found.get(lesson, 0.0))
    for name in names_in(task):
        for lesson in index.names.get(name, ()):
            found[lesson] = 1.0 + found.get(lesson, anywhere.get(lesson, 0.0))
    return found


def _named_in(index: _LessonIndex, words: Sequence[str]) -> Iterator[tuple[str, float]]:
    """Yield the lessons that the words of a sentence name, each with how well."""
    errors = _covered(index.errors, words)
    yield from ((lesson, share) for lesson, share in errors.items() if share > _MOST)
    for tool, share in _covered(index.tools, words).items():
        if share > _MOST:
            is_one_word = len(words_of(_command(tool))) == 1
            for lesson in index.of_tool[tool]:
                if not is_one_word or (lesson in errors and lesson not in index.occasional):
                    yield lesson, 1.0 + errors.get(lesson, 0.0)


def _covered(
    parts: Mapping[str, list[tuple[str, float]]], words: Sequence[str]
) -> dict[str, float]:
    """Return the share of each lesson's or tool's words that occur among others, in order."""
    found: dict[str, float] = {}
    for word in words:
        holders = parts.get(word, ())
        if len(holders) <= _MOST_HOLDERS:
            for holder, part in holders:
                found[holder] = found.get(holder, 0.0) + part
    return found


def _index(advice: AdviceDocument) -> _LessonIndex:
    lessons, texts = advice.lessons, advice.past_tasks.index
    counts: dict[str, int] = defaultdict(int)
    for lesson in lessons:
        for word in lesson.words:
            counts[word] += 1
    index = _LessonIndex()
    for lesson in lessons:
        if lesson.is_occasional:
            index.occasional.add(lesson.id)
        own = words_of(lesson.tools[0])
        index.of_tool[lesson.tools[0]].append(lesson.id)
        error = {word: idf(counts[word], len(lessons)) for word in lesson.words if word not in own}
        _add(index.errors, lesson.id, error)
        for name in lesson.names:
            index.names[name].append(lesson.id)
    for tool in index.of_tool:
        _add(index.tools, tool, {word: texts.rarity(word) for word in words_of(_command(tool))})
    return index


def _command(tool: str) -> str:
    return tool.removeprefix(_SHELL)


def _add(parts: _Parts, holder: str, weights: Mapping[str, float]) -> None:
    total = fsum(weights.values())
    for word, weight in weights.items():
        if weight:
            parts[word].append((holder, weight / total))
