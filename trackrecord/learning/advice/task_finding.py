"""Find the past tasks that a task's text is similar to, among many more than an agent can hold.

Each word is a term, of which is known how many past tasks have it, and the newest of these. The
rarest terms of a text lead to candidates; these are compared by all their terms. The measure is the
cosine of `task_index`, as far as it can be told without knowing how rare the terms are that only
the past task has: those count like the terms of the text do on average.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from math import sqrt
from typing import Final, NamedTuple
from zlib import crc32

from ..text.search_words import asked_words
from .task_index import idf

# Only this much of an instruction is told.
LONGEST_TOLD: Final = 160
# So many words of a past task, and of a question, count: the longest ones, which tend to be rare.
MOST_TERMS: Final = 48
MOST_ASKED: Final = 64
# So many tasks are known by each term: the newest.
MOST_HOLDERS: Final = 1024
# Less similar tasks have little to do with each other.
LEAST_SIMILAR: Final = 0.3
# Terms are looked up from the rarest on, until so many tasks were seen; of the next terms, until so
# many were, it only counts which of these tasks have them, too.
_MOST_SEEN: Final = 512
_MOST_COUNTED: Final = 4096
# So many candidates are compared by all their terms.
_MOST_COMPARED: Final = 32


class Holders(NamedTuple):
    """The past tasks that have a term.

    Attributes:
        total: how many there are.
        newest: the numbers of the newest ones, ascending; each once.
    """

    total: int
    newest: Sequence[int]


def terms_of(text: str, most: int) -> list[int]:
    """Return the terms of a text, each once, in a fixed order.

    Args:
        text: a task's text.
        most: how many to return at most.
    """
    return sorted({term for _, term in asked_terms(text, most)})


def asked_terms(text: str, most: int) -> list[tuple[str, int]]:
    """Return the words of a text that count, each with its term.

    Args:
        text: a task's text.
        most: how many to return at most.
    """
    words = list(asked_words(text))
    if len(words) > most:
        words = sorted(words, key=lambda word: (-len(word), word))[:most]
    return [(word, term_of(word)) for word in words]


def term_of(word: str) -> int:
    """Return what stands for a word; hardly ever do two words have the same."""
    return crc32(word.encode("utf-8", "surrogatepass"))


def with_others(
    holders: Mapping[int, Holders], terms: Iterable[int], others: Sequence[Collection[int]]
) -> dict[int, Holders]:
    """Return the holders of terms, also of those that only other past tasks have.

    Args:
        holders: the past tasks that have a term, as far as they are indexed.
        terms: the terms of a question.
        others: the terms of past tasks that may not be indexed yet.
    """
    found = dict(holders)
    for term in terms:
        if term not in found and (total := sum(term in each for each in others)):
            found[term] = Holders(total, ())
    return found


@dataclass(frozen=True)
class Question:
    """A task's text, by the terms that past tasks have, too.

    Attributes:
        squares: for each term, the square of its weight: the rarer, the more.
    """

    squares: Mapping[int, float]

    @classmethod
    def of(cls, holders: Mapping[int, Holders], size: int) -> "Question":
        """Return a question.

        Args:
            holders: the past tasks that have its terms; at least one.
            size: how many past tasks there are.
        """
        # In a fixed order: sums do not depend on where the terms came from.
        return cls({term: idf(holders[term].total, size) ** 2 for term in sorted(holders)})

    def candidates(self, holders: Mapping[int, Holders]) -> list[int]:
        """Return the numbers of the past tasks that share most, by the rarest terms alone."""
        dots: dict[int, float] = {}
        seen = 0
        for term in sorted(holders, key=lambda term: (holders[term].total, term)):
            numbers, square = holders[term].newest, self.squares[term]
            seen += len(numbers)
            if not dots:
                dots = dict.fromkeys(numbers, square)
            elif seen <= _MOST_SEEN:
                for number in numbers:
                    dots[number] = dots.get(number, 0.0) + square
            elif seen <= _MOST_COUNTED:
                # What has no rarer term is not looked at any more.
                for number in dots.keys() & numbers:
                    dots[number] += square
            else:
                break
        least = min(nlargest(_MOST_COMPARED, dots.values()), default=0.0)
        best = sorted([(-dot, -number) for number, dot in dots.items() if dot >= least])
        return [-number for _, number in best[:_MOST_COMPARED]]

    def similarity(self, terms: Collection[int]) -> float:
        """Return how similar the task is to one with these distinct terms, 0..1."""
        squares = self.squares
        shared = [squares[term] for term in terms if term in squares]
        if not shared:
            return 0.0
        total, dot = sum(squares.values()), sum(shared)
        others = (len(terms) - len(shared)) * total / len(squares)
        return dot / sqrt(total * (dot + others))
