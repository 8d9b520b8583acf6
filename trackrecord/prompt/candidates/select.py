"""Selecting: choose the ranked candidates that fit a budget of tokens.

A caller's own tokenizer need not add up: what it says of two texts together is more or less than
what it says of each. So nothing is believed that it did not say of the rendered text as a whole;
estimates only save questions. The candidates are first counted one by one, each once, and as many
as fit by that estimate are asked for together: as a rule a handful of questions decide about
hundreds of candidates.
"""

from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass
from math import ceil
from operator import attrgetter
from typing import Final

import msgspec

from trackrecord.learning.text.language import Language, known_language

from .rank import Ranking, Scored
from .text import characters_before, opening_of, render, section_of

# Counts the tokens of a text, or gives them as a list.
Tokenizer = Callable[[str], int | Sized]

# Where two texts meet, a tokenizer may find a token fewer than in each alone. A candidate that is
# over the budget by more than this, counted alone, is left out without a further question.
MERGED_MOST: Final = 3
# And so is every one that is over the budget by less, once so many such questions were asked: a
# prompt must not wait for hundreds of them.
DOUBTS_MOST: Final = 32


def choose_by_tokenizer(
    entries: Sequence[Scored], budget: int | None, language: Language, tokenizer: Tokenizer
) -> tuple[list[Scored], list[Scored], int]:
    """Choose the entries that fit, by a tokenizer's own counts.

    The text is within the budget by this tokenizer, whatever tokenizer it is. That nothing is left
    out which would still fit holds for one that finds no fewer tokens in a longer text, and saves
    at most `MERGED_MOST` of them by putting a piece between others. Whether a piece fits thanks to
    such savings alone is asked `DOUBTS_MOST` times at the most.

    Args:
        entries: best first.
        budget: in tokens; None for no limit.
        language: of the headings.
        tokenizer: counts the tokens of a text.
    """
    # Some tokenizers mark the beginning and the end of whatever they are given.
    marks = count_with(tokenizer, "")
    counted = [
        msgspec.structs.replace(
            each, tokens=max(0, count_with(tokenizer, each.candidate.text) - marks)
        )
        for each in entries
    ]
    walk = _Walk(budget, language, tokenizer, marks)
    at = 0
    while at < len(counted):
        at += walk.go_on(counted, at)
    return walk.taken, walk.left_out, walk.tokens


def count_with(tokenizer: Tokenizer, text: str) -> int:
    """Return the number of tokens that a tokenizer finds.

    Raises:
        ValueError: it answers neither a number nor a list.
    """
    answer = tokenizer(text)
    if isinstance(answer, Sized):
        return len(answer)
    if isinstance(answer, bool) or not isinstance(answer, int) or answer < 0:
        message = f"a tokenizer gives a number of tokens, or a list of them, not {answer!r}"
        raise ValueError(message)
    return answer


class _Walk:
    """The decisions so far."""

    def __init__(
        self, budget: int | None, language: Language, tokenizer: Tokenizer, marks: int
    ) -> None:
        self._budget = budget
        self._language = language
        self._tokenizer = tokenizer
        self._marks = marks
        self._opened: set[str] = set()
        self._outline: dict[str, int] = {}
        self.taken: list[Scored] = []
        self.left_out: list[Scored] = []
        self.tokens = 0
        self._doubts = 0

    def go_on(self, entries: Sequence[Scored], at: int) -> int:
        """Decide about one entry or more from a place on; answers about how many."""
        if self._budget is None:
            self._take(entries[at:], self._count(entries[at:]))
            return len(entries) - at
        room = self._budget - self.tokens
        run = self._fitting(entries, at, room)
        if not run:
            is_doubtful = self._estimate(entries[at], self._opened) <= room + MERGED_MOST
            if not is_doubtful or self._doubts == DOUBTS_MOST:
                self.left_out.append(entries[at])
                return 1
            self._doubts += 1
            run = 1
        return self._try(entries[at : at + run], self._budget)

    def _try(self, run: Sequence[Scored], budget: int) -> int:
        """Take as many of a run as fit together, and leave out the one at which it ends."""
        tokens = self._count(run)
        if tokens <= budget:
            self._take(run, tokens)
            return len(run)
        fits, fits_not = 0, len(run)
        fitting = self.tokens
        while fits_not - fits > 1:
            middle = (fits + fits_not) // 2
            tokens = self._count(run[:middle])
            if tokens <= budget:
                fits, fitting = middle, tokens
            else:
                fits_not = middle
        self._take(run[:fits], fitting)
        self.left_out.append(run[fits])
        return fits + 1

    def _take(self, more: Sequence[Scored], tokens: int) -> None:
        self.taken += more
        self.tokens = tokens
        self._opened.update(section_of(each).name for each in more)

    def _count(self, more: Sequence[Scored]) -> int:
        return count_with(self._tokenizer, render((*self.taken, *more), self._language))

    def _fitting(self, entries: Sequence[Scored], at: int, room: int) -> int:
        """Return how many candidates from a place on fit, by estimates."""
        opened = set(self._opened)
        count = 0
        for entry in entries[at:]:
            room -= self._estimate(entry, opened)
            if room < 0:
                break
            opened.add(section_of(entry).name)
            count += 1
        return count

    def _estimate(self, entry: Scored, opened: set[str]) -> int:
        section = section_of(entry)
        is_first = section.name not in opened
        outline = opening_of(section, self._language) if is_first else section.between
        if outline not in self._outline:
            self._outline[outline] = count_with(self._tokenizer, outline) - self._marks
        return entry.tokens + self._outline[outline]


_TOKENS: Final = attrgetter("tokens")


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
    opened: set[str] = set()
    of_candidates = outline = 0
    taken: list[Scored] = []
    left_out: list[Scored] = []
    least = min(map(_TOKENS, entries), default=0)
    # Adding never makes the count smaller, so that each decision is final at once.
    for place, entry in enumerate(entries):
        section = section_of(entry)
        longer = outline + characters_before(section, language, opened)
        if budget is None or of_candidates + entry.tokens + ceil(longer * ratio) <= budget:
            of_candidates, outline = of_candidates + entry.tokens, longer
            opened.add(section.name)
            taken.append(entry)
        elif of_candidates + ceil(outline * ratio) + least <= budget:
            left_out.append(entry)
        else:
            left_out += entries[place:]
            break
    return taken, left_out, of_candidates + ceil(outline * ratio)


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
