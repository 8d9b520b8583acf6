"""Which lessons the words of a task name: by a tool, by a name, or by most of an error's words."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum
from typing import Final

from trackrecord.learning.advice.lessons.lesson import subject_tools
from trackrecord.learning.advice.task_index import idf
from trackrecord.learning.text.names import names_in
from trackrecord.learning.text.words import words_of

from .advice_document import AdviceDocument, LessonEntry
from .known import KnownDocuments

# More than half of what an error says.
_MOST_OF_AN_ERROR: Final = 0.5
# Of what a shell runs, the command is what a task names.
_SHELL: Final = "shell:"
_WORD: Final = re.compile(r"[^\W_]+")
# Spaces around a name of one word.
_ONE_WORD: Final = 2


@dataclass(frozen=True)
class _LessonWords:
    """What a lesson can be named by.

    Attributes:
        tools: the words of its tools' names, in their order.
        error: the words of its error that are not the tools', each with its weight: the fewer
            lessons have it, the more.
        names: its names.
    """

    tools: tuple[str, ...]
    error: Mapping[str, float]
    names: frozenset[str]


def lessons_named(known: KnownDocuments) -> dict[str, float]:
    """Return the lessons that a task's own words name, by id, each with how well they name it.

    A lesson is named by its tool, as in "npm install fails"; by a name that it shares with the task
    (`ERESOLVE`, `vite.config.ts`); or by more than half of the words of its error. A tool whose
    name is a single word, as "edit" or "find", is named only where a word of its error is, too.
    """
    words, names = words_of(known.task), names_in(known.task)
    text = _in_order(known.task)
    found = {}
    by_lesson: dict[str, _LessonWords] = known.once("lesson words", _by_lesson)
    for lesson_id, each in by_lesson.items():
        covered = fsum(weight for word, weight in each.error.items() if word in words)
        share = covered / fsum(each.error.values()) if covered else 0.0
        shared = len(each.names & names)
        tools = sum(tool in text for tool in each.tools if share or tool.count(" ") > _ONE_WORD)
        if tools or shared or share > _MOST_OF_AN_ERROR:
            found[lesson_id] = tools + shared + share
    return found


def _in_order(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _by_lesson(advice: AdviceDocument) -> dict[str, _LessonWords]:
    lessons = advice.lessons
    counts: dict[str, int] = {}
    for lesson in lessons:
        for word in lesson.words:
            counts[word] = counts.get(word, 0) + 1
    return {lesson.id: _words(lesson, counts, len(lessons)) for lesson in lessons}


def _words(lesson: LessonEntry, counts: Mapping[str, int], size: int) -> _LessonWords:
    tools = subject_tools(lesson.kind, lesson.tools)
    own = frozenset[str]().union(*map(words_of, tools))
    return _LessonWords(
        tuple(_in_order(tool.removeprefix(_SHELL)) for tool in tools if _WORD.search(tool)),
        {word: idf(counts[word], size) for word in lesson.words if word not in own},
        frozenset(lesson.names),
    )
