"""Words: compare and find tool names, triggers and texts without a language model.

One function takes texts apart for both databases, so that neither's own idea of a word matters, and
nothing that somebody wrote ever stands in a query: a word becomes a lexeme of letters and digits.
"""

from collections.abc import Iterable
from functools import lru_cache
from math import sqrt
from operator import add
from typing import Final

from .lazy_regex import compile_lazily
from .width import one_width

_WORD = compile_lazily(r"[^\W_]+")
# Han, kana and Hangul are written without spaces between words.
_CJK = compile_lazily(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af]+")
# goBuild → go Build, HTTPServer → HTTP Server
_HUMP = compile_lazily(r"[A-Z](?:(?<=[a-z0-9][A-Z])|(?<=[A-Z][A-Z])(?=[a-z]))")


# Triggers are compared with every task; there are a few thousand of them at the most.
_PHRASES_REMEMBERED = 4096


def words_of(text: str) -> frozenset[str]:
    """Return the distinct words of a text, case folded.

    snake_case and camelCase are split; Chinese, Japanese and Korean runs become their
    bigrams, which find most words of two characters without a dictionary.
    """
    if text.isascii():  # the same result in half the time
        return frozenset(_WORD.findall(_HUMP.sub(r" \g<0>", text).lower()))
    words: set[str] = set()
    text = one_width(text)
    for run in _CJK.findall(text):
        words.update(_bigrams(run))
    for word in _WORD.findall(_CJK.sub(" ", text)):
        words.update(_HUMP.sub(r" \g<0>", word).casefold().split())
    return frozenset(words)


def _bigrams(run: str) -> Iterable[str]:
    if len(run) == 1:
        return (run,)
    return map(add, run, run[1:])


def similarity(task: str, phrases: Iterable[str]) -> float | None:
    """Return how well a task's text fits its best phrase, from 0 (nothing) to 1 (the same words).

    The measure is `overlap`. None when there is nothing to compare: the text or all the phrases
    have no words.
    """
    wanted = _words_remembered(task)
    if not wanted:
        return None
    scores = [overlap(wanted, words) for phrase in phrases if (words := _words_remembered(phrase))]
    return max(scores, default=None)


_words_remembered = lru_cache(maxsize=_PHRASES_REMEMBERED)(words_of)


def overlap(a: frozenset[str], b: frozenset[str]) -> float:
    """Return |A∩B|/√(|A|·|B|) of two sets, neither of which is empty (Ochiai 1957)."""
    # Most texts share no word with a task, and a prompt is compared with hundreds.
    return 0.0 if a.isdisjoint(b) else len(a & b) / sqrt(len(a) * len(b))


# Longer words are cut: their beginnings tell them apart.
_MOST_CHARS: Final = 48
_CJK_CHARACTER: Final = compile_lazily(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_PLAIN: Final = compile_lazily(r"[a-z0-9]+")
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


_MOST_CHARS_NAMED: Final = 4000
_NAME_TOKEN: Final = compile_lazily(r"[^\W_](?:[\w.+@/-]{0,126}\w)?")
# `ERESOLVE`, `book_flight`, `notFound`, `vite.config`, `@scope/package`, `utf8`.
_NAME: Final = compile_lazily(
    r"[A-Z0-9]*[A-Z][A-Z0-9]{2,}|.*(?:_|[a-z][A-Z]|[A-Z]{2}[a-z]|\w[./@+]\w|[a-z]\d).*"
)


def names_in(text: str) -> frozenset[str]:
    """Return the names of tools, errors, files and packages in a text, case folded.

    Told by their spelling alone, so that a package whose name is a plain word is not among them.
    """
    return frozenset(
        token.casefold()
        for token in _NAME_TOKEN.findall(text[:_MOST_CHARS_NAMED])
        # Most words have letters of one case alone, which the pattern takes longer to tell.
        if not (token.islower() and token.isalpha()) and _NAME.fullmatch(token)
    )
