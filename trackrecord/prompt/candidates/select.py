"""Selecting: choose the ranked candidates that fit a budget of tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from operator import attrgetter
from typing import Final

from trackrecord.learning.text.language import Language, known_language

from .rank import Ranking, Scored
from .text import characters_above, render, section_of
from .tokenizer import Tokenizer, choose_by_tokenizer

_TOKENS: Final = attrgetter("tokens")


class RatioCount:
    """The tokens of a text while it is made: its candidates' own, and its outline as Markdown.

    Adding never makes the count smaller, so that each decision is final at once.

    Args:
        language: of the headings.
        ratio: tokens per character of headings and separators.
    """

    def __init__(self, language: Language, ratio: float) -> None:
        self._language = language
        self._ratio = ratio
        self._outline = 0
        self._of_candidates = 0
        self._opened: set[str] = set()

    @property
    def tokens(self) -> int:
        """Return the token count of the text so far."""
        return self._of_candidates + ceil(self._outline * self._ratio)

    def has_room_for(self, tokens: int, budget: int | None) -> bool:
        """Return whether a candidate of so many tokens may fit, its heading apart."""
        return budget is None or self.tokens + tokens <= budget

    def add_if_it_fits(self, entry: Scored, budget: int | None) -> bool:
        """Add a candidate if it fits the budget; return whether it did."""
        section = section_of(entry)
        if section.name in self._opened:
            more = len(section.between)
        else:
            more = characters_above(section, self._language, is_first=not self._opened)
        of_candidates, outline = self._of_candidates + entry.tokens, self._outline + more
        if budget is not None and of_candidates + ceil(outline * self._ratio) > budget:
            return False
        self._of_candidates, self._outline = of_candidates, outline
        self._opened.add(section.name)
        return True


def choose_by_ratio(
    entries: Sequence[Scored], budget: int | None, language: Language, ratio: float
) -> tuple[list[Scored], list[Scored], int]:
    """Choose the entries that fit, by estimates of their tokens.

    Args:
        entries: best first.
        budget: in tokens; None for no limit.
        language: of the headings.
        ratio: tokens per character of headings and separators.
    """
    count = RatioCount(language, ratio)
    taken: list[Scored] = []
    left_out: list[Scored] = []
    least = min(map(_TOKENS, entries), default=0)
    for place, entry in enumerate(entries):
        if count.add_if_it_fits(entry, budget):
            taken.append(entry)
        elif count.has_room_for(least, budget):
            left_out.append(entry)
        else:
            left_out += entries[place:]
            break
    return taken, left_out, count.tokens


@dataclass(frozen=True)
class Selection:
    """The result of selecting.

    Attributes:
        taken: the candidates that stand in the text, best first.
        left_out: those that did not fit, best first.
        text: the rendered text, "" when nothing was taken.
        tokens: what the whole text counts for, headings and separators included.
    """

    taken: tuple[Scored, ...]
    left_out: tuple[Scored, ...]
    text: str
    tokens: int


def select(
    ranking: Ranking,
    budget: int | None,
    *,
    lang: Language = "en",
    tokenizer: Tokenizer | None = None,
) -> Selection:
    """Walk the ranked candidates and take what still fits, going on after what does not.

    Pure. Equality fits; a budget of 0 or less gives nothing, and None everything. The text counts
    for the tokens of its candidates and, as Markdown, of its headings and separators; with a
    tokenizer, for what that says of the whole text.

    Args:
        ranking: what `rank` gave.
        budget: tokens that the text may take.
        lang: of the headings, "en" or "zh".
        tokenizer: counts the tokens of a text, or gives them as a list.
    """
    if budget is not None and budget <= 0:
        return Selection((), ranking.entries, "", 0)
    lang = known_language(lang)
    if tokenizer is None:
        ratio = ranking.rules.markdown_ratio
        taken, left_out, tokens = choose_by_ratio(ranking.entries, budget, lang, ratio)
    else:
        taken, left_out, tokens = choose_by_tokenizer(ranking.entries, budget, lang, tokenizer)
    text = render(taken, lang)
    return Selection(tuple(taken), tuple(left_out), text, tokens)
