"""The task index: find the texts that a task's text is similar to, by the words they share.

A word counts by its rarity (inverse document frequency), a text by the cosine of its words with
those of the task. The index is a function of the set of texts, so that their order cannot matter.
It is cached as bytes: an agent decodes it once for each change, and asks it in a millisecond.
"""

import re
from array import array
from collections.abc import Sequence
from functools import cached_property, lru_cache
from math import fsum, log, sqrt
from typing import Final

import msgspec

from ...text.words import asked_words

# A word of more than half of the texts tells none of them apart.
_COMMON_SHARE: Final = 0.5
_COMMON_FROM: Final = 8
# Words are looked up from the rarest on, until so many texts were seen.
_MOST_SEEN: Final = 4000
# A longer text is known by its beginning.
_MOST_WORDS: Final = 200
# Numbers and identifiers, for example mia_li_3668.
_WITH_DIGIT: Final = re.compile(r"\b[^\W\d]*\d\w*")
# Of so many times as many texts as are wanted, the score is found that the others must reach.
_TIMES_MOST: Final = 2
# What sums of floats are off by is less.
_NEARLY_ONE: Final = 1.0 - 1e-9
_POSITION_BYTES: Final = array("I").itemsize


class TaskIndex(msgspec.Struct, frozen=True, array_like=True, dict=True):
    """Texts by the words that they have.

    Attributes:
        size: how many texts there are; they are known by their position.
        words: for each word, the positions of its texts, as unsigned 32-bit integers.
        norms: for each text, the length of its vector of words, as 32-bit floats.
        common: words of more than half of the texts, by which no text is found.
        least_norm: the smallest of the norms.
    """

    size: int = 0
    words: dict[str, bytes] = {}
    norms: bytes = b""
    common: tuple[str, ...] = ()
    least_norm: float = 0.0

    def rarity(self, word: str) -> float:
        """Return how much a word counts: the rarer the more, and nothing if most texts have it."""
        if word in self.common:
            return 0.0
        return idf(len(self.words.get(word, b"")) // _POSITION_BYTES, self.size)

    def is_usual(self, text: str) -> bool:
        """Return whether a text has a word that more than half of the texts have."""
        return not index_words(text).isdisjoint(self.common)

    def similar(self, text: str, *, most: int) -> list[tuple[int, float]]:
        """Return the positions of the texts most similar to a text, and their cosines.

        Args:
            text: the text of the task at hand.
            most: how many to return at most.

        Returns:
            The best first, equal ones by position; only texts that share a word.
        """
        known = sorted(
            (len(self.words[word]), word) for word in index_words(text) & self.words.keys()
        )
        looked_up: list[tuple[float, str]] = []
        squares, seen = 0.0, 0
        for size, word in known:
            texts_with = size // _POSITION_BYTES
            weight = idf(texts_with, self.size) ** 2
            squares += weight
            seen += texts_with
            if not looked_up or seen <= _MOST_SEEN:
                looked_up.append((weight, word))
        best, length = self._best(looked_up, most), sqrt(squares)
        return [(position, min(1.0, -score / length)) for score, position in best]

    def _best(self, looked_up: list[tuple[float, str]], most: int) -> list[tuple[float, int]]:
        """Return the best texts by these words, each with its score, negated, and its position.

        Once so many texts have a higher score than the words that are left can give, the texts that
        have none but those are not looked at.
        """
        norms = self._norms
        dots: dict[int, float] = {}
        dot_before = dots.get
        least, left = 0.0, fsum([weight for weight, _ in looked_up])
        for weight, word in looked_up:
            positions = self._positions(word)
            if not least and len(dots) >= _TIMES_MOST * most > 0:
                scores = sorted([dot / norms[position] for position, dot in dots.items()])
                least = scores[-most]
            if left < least * self.least_norm * _NEARLY_ONE:
                for position in dots.keys() & positions:
                    dots[position] += weight
            else:
                for position in positions:
                    dots[position] = dot_before(position, 0.0) + weight
            left -= weight
        # Most are told by their dot alone, whatever their norm.
        least_dot = least * self.least_norm
        best = [
            (-score, position)
            for position, dot in dots.items()
            if dot >= least_dot and (score := dot / norms[position]) >= least
        ]
        best.sort()
        return best[:most]

    @cached_property
    def _norms(self) -> "array[float]":
        return array("f", self.norms)

    def _positions(self, word: str) -> list[int]:
        """Return the positions of a word's texts, read once for an index."""
        found = self._read.get(word)
        if found is None:
            found = [self._numbers[position] for position in array("I", self.words[word])]
            self._read[word] = found
        return found

    @cached_property
    def _read(self) -> dict[str, list[int]]:
        return {}

    @cached_property
    def _numbers(self) -> list[int]:
        # Each number once, however many words have it.
        return list(range(self.size))


def build_index(texts: Sequence[str]) -> TaskIndex:
    """Return the index of texts, which are known by their positions afterwards."""
    words_of = [index_words(text) for text in texts]
    positions: dict[str, array[int]] = {}
    for position, words in enumerate(words_of):
        for word in words:
            found = positions.get(word)
            if found is None:
                found = positions[word] = array("I")
            found.append(position)
    size = len(texts)
    most = size if size < _COMMON_FROM else int(size * _COMMON_SHARE)
    kept = {word: found for word, found in sorted(positions.items()) if len(found) <= most}
    squares = {word: idf(len(found), size) ** 2 for word, found in kept.items()}
    norms = array(
        "f",
        # An exact sum: it does not depend on the order of the words.
        (sqrt(fsum(squares[word] for word in words if word in squares)) for words in words_of),
    )
    common = tuple(sorted(positions.keys() - kept.keys()))
    return TaskIndex(
        size,
        {word: found.tobytes() for word, found in kept.items()},
        norms.tobytes(),
        common,
        min(filter(None, norms), default=0.0),
    )


def idf(texts_with: int, texts: int) -> float:
    """Return how much a word counts: the rarer the more, and never nothing."""
    return log((1 + texts) / (1 + texts_with)) + 1.0


@lru_cache(maxsize=4096)
def index_words(text: str) -> frozenset[str]:
    """Return the words that a task's text is found by; numbers and ids are no guide to its kind."""
    words = asked_words(_WITH_DIGIT.sub(" ", text))
    return words if len(words) <= _MOST_WORDS else frozenset(sorted(words)[:_MOST_WORDS])
