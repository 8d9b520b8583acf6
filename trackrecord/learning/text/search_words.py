"""The words by which texts are found, in English and in Chinese.

One function takes texts apart for both databases, so that neither's own idea of a word matters, and
nothing that somebody wrote ever stands in a query: a word becomes a lexeme of letters and digits.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from .words import words_of

# Longer words are cut: their beginnings tell them apart.
_MOST_CHARS: Final = 48
_CJK_CHARACTER: Final = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_PLAIN: Final = re.compile(r"[a-z0-9]+")
# A placeholder of what was masked; what stands between blanks, from its first to its last letter;
# and what is written without any.
_CJK: Final = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
_PLACEHOLDER: Final = re.compile(r"\{(?:name|id|n|mail|url|path)\}")
_PIECE: Final = re.compile(
    rf"{_PLACEHOLDER.pattern}|[{_CJK}]+|[^\W{_CJK}](?:[^\s{_CJK}]{{0,200}}[^\W{_CJK}])?"
)
_UNSPACED: Final = re.compile(rf"[{_CJK}]")
_HAS_WORD: Final = re.compile(r"\w")
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


def in_common(text: str, task: str) -> str:
    """Return the words that a text shares with a task, with an ellipsis for everything else.

    Whoever wrote the text chooses its words: those that the task at hand has already say what both
    are about, and give no order of their own. Words without a subject, and placeholders of what was
    masked, stay beside others only.

    Args:
        text: of another task, perhaps by somebody whom nobody knows.
        task: the text of the task at hand.
    """
    known = _known_words(task)
    shown, end = "", 0
    for start, stop in _joined(text, known):
        if not asked_words(_PLACEHOLDER.sub(" ", text[start:stop])):
            continue
        left_out = "… " if _HAS_WORD.search(text[end:start]) else ""
        shown += f"{' ' if shown else ''}{left_out}{text[start:stop]}"
        end = stop
    return f"{shown} …".lstrip() if _HAS_WORD.search(text[end:]) else shown


def _joined(text: str, known: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Yield where a text has words that are known, with no others in between."""
    first, last = 0, 0
    for start, stop in _parts_in_common(text, known):
        if last and _HAS_WORD.search(text[last:start]):
            yield first, last
            first = start
        first, last = (first, stop) if last else (start, stop)
    if last:
        yield first, last


def _parts_in_common(text: str, known: frozenset[str]) -> Iterator[tuple[int, int]]:
    for piece in _PIECE.finditer(text):
        word, start = piece.group(), piece.start()
        if _UNSPACED.match(word):
            # Each bigram, or a character that stands alone.
            ends = range(min(2, len(word)), len(word) + 1)
            pairs = ((max(0, end - 2), end) for end in ends)
            yield from ((start + n, start + end) for n, end in pairs if word[n:end] in known)
        elif _PLACEHOLDER.match(word) or ((words := words_of(word)) and words <= known):
            yield piece.span()


# Several texts are compared with one task.
@lru_cache(maxsize=64)
def _known_words(task: str) -> frozenset[str]:
    return words_of(task) | _STOP_WORDS


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
