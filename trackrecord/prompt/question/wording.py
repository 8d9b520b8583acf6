"""The wording of a prompt's entries: advice, or a record of the past without orders.

Orders in a context that no person wrote are what agents are trained to distrust: hooks hand out
records. What is chosen does not depend on the wording, nor does what it counts for.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from trackrecord.learning.text.language import Language

from ..documents.advice_document import LessonEntry
from ..documents.rankings_document import RankedPattern


@dataclass(frozen=True)
class Wording:
    """The form in which chosen entries are written.

    Attributes:
        is_record: whether headings and lines tell what happened, and never what to do.
        quotes_one_agent: whether the words of an error are quoted that one agent alone reported.
        said: lines that the reader has seen before, and that are not repeated.
        told_lessons: the ids of lessons whose fact the reader is told in another line.
    """

    is_record: bool = False
    quotes_one_agent: bool = True
    said: frozenset[str] = frozenset()
    told_lessons: frozenset[str] = frozenset()

    def is_told(self, entry: object) -> bool:
        """Return whether the reader is told an entry's fact in another line."""
        return isinstance(entry, LessonEntry) and entry.id in self.told_lessons

    def reworded(
        self,
        entry: Any,  # noqa: ANN401 - of any feed
        text: str,
        language: Language,
        names: Mapping[str, str],
    ) -> str:
        """Return an entry's text in these words.

        Args:
            entry: the entry.
            text: its text, with the reader's own names for tools.
            language: of the text.
            names: the reader's own names for tools, by the words that they are on record with.
        """
        other = None
        if self.is_record and isinstance(entry, RankedPattern):
            other = entry.record_lines.get(language)
        elif not self.quotes_one_agent and isinstance(entry, LessonEntry):
            other = entry.wordless_lines.get(language)
        if not other:
            return text
        usual = with_own_tools(entry.lines[language], names)
        return text.replace(usual, with_own_tools(other, names), 1)


# A tool in a line: in backticks, as a step of a procedure, or as what made a difference.
_TOOL: Final = re.compile(
    r"`(\w{1,40})`"
    r"|(?:(?<=→ )|(?<=^- )|(?<=\+)|(?<=: )|(?<=时[::])|(?<=: with ))(\w{1,40})"
    r"(?= →|\+| \[| \d+ of )"
)


def with_own_tools(line: str, names: Mapping[str, str]) -> str:
    """Return a line with the reader's own names for tools.

    Args:
        line: one line of a text.
        names: the reader's names, by the words that tools are on record with.
    """
    if not names:
        return line

    def own(found: re.Match[str]) -> str:
        word = found[1] or found[2]
        return found[0].replace(word, names.get(word, word))

    return _TOOL.sub(own, line)


AS_ADVICE: Final = Wording()
