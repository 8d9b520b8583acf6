"""Counting by ratios: what a text of candidates, headings and separators counts for."""

from collections.abc import Sequence
from math import ceil

from trackrecord.learning.text.language import Language

from .rank import Scored
from .sections import Outline, section_of


class RatioCount:
    """The tokens of a text while it is made: its candidates' own, and its outline as Markdown.

    Adding never makes the count smaller, so that each decision is final at once.

    Args:
        language: of the headings.
        ratio: tokens per character of headings and separators.
    """

    def __init__(self, language: Language, ratio: float) -> None:
        self._outline = Outline(language)
        self._ratio = ratio
        self._characters = 0
        self._of_candidates = 0

    @property
    def tokens(self) -> int:
        """What the text counts for now."""
        return self._of_candidates + ceil(self._characters * self._ratio)

    def add_if_it_fits(self, entry: Scored, budget: int | None) -> bool:
        """Count one more in, unless that would be more than the budget; says whether it was."""
        of_candidates = self._of_candidates + entry.tokens
        if budget is not None and of_candidates > budget:
            return False
        section = section_of(entry.candidate)
        characters = self._characters + self._outline.more_for(section)
        if budget is not None and of_candidates + ceil(characters * self._ratio) > budget:
            return False
        self._characters, self._of_candidates = characters, of_candidates
        self._outline.add(section)
        return True


def choose_by_ratio(
    entries: Sequence[Scored], budget: int | None, language: Language, ratio: float
) -> tuple[list[Scored], list[Scored], int]:
    """What fits, what does not, and what the text counts for.

    Args:
        entries: best first.
        budget: in tokens; None for no limit.
        language: of the headings.
        ratio: tokens per character of headings and separators.
    """
    count = RatioCount(language, ratio)
    taken: list[Scored] = []
    left_out: list[Scored] = []
    for entry in entries:
        (taken if count.add_if_it_fits(entry, budget) else left_out).append(entry)
    return taken, left_out, count.tokens
