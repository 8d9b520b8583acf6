"""The wording of a prompt's entries: advice, or a record of the past without orders.

Orders in a context that no person wrote are what agents are trained to distrust: hooks hand out
records. What is chosen does not depend on the wording, nor does what it counts for.
"""

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
    """

    is_record: bool = False
    quotes_one_agent: bool = True
    said: frozenset[str] = frozenset()

    def reworded(self, entry: Any, text: str, language: Language) -> str:  # noqa: ANN401 - of any feed
        """Return an entry's text in these words."""
        other = None
        if self.is_record and isinstance(entry, RankedPattern):
            other = entry.record_lines.get(language)
        elif not self.quotes_one_agent and isinstance(entry, LessonEntry):
            other = entry.wordless_lines.get(language)
        return text.replace(entry.lines[language], other, 1) if other else text


AS_ADVICE: Final = Wording()
