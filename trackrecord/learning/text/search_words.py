"""The words by which texts are found, in English and in Chinese.

One function takes texts apart for both databases, so that neither's own idea of a word matters, and
nothing that somebody wrote ever stands in a query: a word becomes a lexeme of letters and digits.
"""

import re
from typing import Final

from .words import words_of

# Longer words are cut: their beginnings tell them apart.
_MOST_CHARS: Final = 48
_CJK_CHARACTER: Final = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_PLAIN: Final = re.compile(r"[a-z0-9]+")
# A placeholder of what was masked; what stands between blanks, from its first to its last letter;
# and what is written without any.
_CJK: Final = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
# Words that say nothing about a text's subject: a question of only these finds nothing.
_STOP_WORDS_TEXT: Final = """
a an and are as at be been but by can do does for from had has have how i if in into is it its me my
no not of on or our out so than that the their them then there these they this to up was we were
what when which who why will with you your
一个 我们 你们 他们 这个 那个 可以 没有 什么 怎么 如何 因为 所以 但是 如果 以及 或者 进行 需要
"""
_STOP_WORDS: Final = frozenset(_STOP_WORDS_TEXT.split())


def indexed_words(text: str) -> frozenset[str]:
    """Return the words of a text for the index, with bigrams and single characters of Chinese."""
    return words_of(text) | frozenset(_CJK_CHARACTER.findall(text))


def asked_words(text: str) -> frozenset[str]:
    """Return the words and bigrams that a question looks for, without stop words."""
    return words_of(text) - _STOP_WORDS


def lexeme(scope: int, word: str) -> str:
    """Return the lexeme of a word in one project, made of a-z and 0-9 alone.

    The project is a part of it, so that no search can find another project's texts.
    """
    word = word[:_MOST_CHARS]
    if _PLAIN.fullmatch(word):
        return f"p{scope}w{word}"
    return f"p{scope}x{word.encode('utf-8', 'surrogatepass').hex()}"


def lexemes(scope: int, words: frozenset[str]) -> list[str]:
    """Return the distinct lexemes of words, in a fixed order."""
    return sorted({lexeme(scope, word) for word in words})
