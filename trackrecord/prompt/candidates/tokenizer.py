"""Choosing by a caller's own tokenizer, which need not add up.

What a tokenizer says of two texts together is more or less than what it says of each. So nothing is
believed that it did not say of the rendered text as a whole; estimates only save questions. The
candidates are first counted one by one, each once, and as many as fit by that estimate are asked
for together: as a rule a handful of questions decide about hundreds of candidates.
"""

from collections.abc import Callable, Sequence, Sized
from typing import Final

import msgspec

from trackrecord.learning.text.language import Language

from .rank import Scored
from .text import opening_of, render, section_of

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
