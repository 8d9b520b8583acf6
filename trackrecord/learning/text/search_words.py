"""The words that texts are found by, in English and Chinese alike.

One function takes texts apart for both databases, so that neither's own idea of a word matters, and
nothing that somebody wrote ever stands in a query: a word becomes a lexeme of letters and digits.
"""

import re
from typing import Final

from .words import words_of

# Longer words are told apart by their beginnings.
_MOST_CHARS: Final = 48
_CJK_CHARACTER: Final = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_PLAIN: Final = re.compile(r"[a-z0-9]+")
# Words that say nothing of what a text is about: a question of nothing else finds nothing.
_STOP_WORDS_TEXT: Final = """
a an and are as at be been but by can do does for from had has have how i if in into is it its me my
no not of on or our out so than that the their them then there these they this to up was we were
what when which who why will with you your
一个 我们 你们 他们 这个 那个 可以 没有 什么 怎么 如何 因为 所以 但是 如果 以及 或者 进行 需要
"""
_STOP_WORDS: Final = frozenset(_STOP_WORDS_TEXT.split())


def indexed_words(text: str) -> frozenset[str]:
    """What a text is found by: its words, the bigrams and the single characters of Chinese runs."""
    return words_of(text) | frozenset(_CJK_CHARACTER.findall(text))


def asked_words(text: str) -> frozenset[str]:
    """What a question looks for: its words and bigrams, without those that say nothing."""
    return words_of(text) - _STOP_WORDS


def lexeme(scope: int, word: str) -> str:
    """A word of one project as an index knows it: nothing but a-z and 0-9, whatever was written.

    The project is a part of it, so that no search can find what is another's.
    """
    word = word[:_MOST_CHARS]
    if _PLAIN.fullmatch(word):
        return f"p{scope}w{word}"
    return f"p{scope}x{word.encode('utf-8', 'surrogatepass').hex()}"


def lexemes(scope: int, words: frozenset[str]) -> list[str]:
    """The lexemes of words, each once, in a fixed order."""
    return sorted({lexeme(scope, word) for word in words})
