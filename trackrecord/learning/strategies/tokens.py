"""Tokens: a text as a list of words, marks and those Chinese phrases that are looked for."""

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final

from .negation import WORDS_ZH
from .phrases import is_chinese, patterns_zh

# An empty line, or the next item of a list.
_BREAK: Final = re.compile(r"\n(?=[ \t]{0,8}(?:\n|[-*+•]\s|[0-9]{1,3}[.)]\s))")
# The map of ASCII: letters become lower case, apostrophes and the marks that are tokens stay
# as they are, all else becomes a space.
_ASCII_WORDS: Final = bytes(
    ord(chr(code).lower()) if chr(code).isalnum() or chr(code) in "',;!?" else ord(" ")
    for code in range(128)
) + bytes(128)

_WORD = r"[a-z0-9]+(?:'[a-z]+)?"
_MARKS = r"[;!?。．｡；！？…—–]|\.(?=\s|$|[\u3400-\u9fff])|(?<=\s)--?(?=\s)"
# The characters that a word or a mark begins with.
_HEADS = r"a-z0-9,;!?。．｡；！？…—–.\-，"
# A Chinese comma ends a clause, but not where the enumeration goes on.
_COMMA = r"[,，](?!\s?(?:或|以及|及|和))"

# Han, and full-width forms.
_WIDE: Final = re.compile(r"[\u3001-\u9fff\uff00-\uffef]")
_TYPOGRAPHY: Final = (
    *(("’", "'"), ("—", " - "), ("–", " - "), ("…", " ; ")),
    *((mark, " ") for mark in "“”‘•\u00a0"),
)
_FULL_WIDTH: Final = re.compile(r"[０-９Ａ-Ｚａ-ｚ]")
_TO_HALF_WIDTH: Final = {
    code: code - 0xFEE0
    for code in (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))
}

_SPELLINGS_REMEMBERED: Final = 5_000


class Tokeniser:
    """Split texts into tokens, in time proportional to their length.

    Chinese does not separate words by spaces, so the phrases to look for are given.

    Args:
        phrases_zh: for each token, the Chinese phrases that become it.
    """

    def __init__(self, phrases_zh: Mapping[str, Sequence[str]]) -> None:
        self._token_of: Final = _TokenOf(phrases_zh)
        by_head: dict[str, list[str]] = {}
        phrases = chain.from_iterable(phrases_zh.values())
        # Longer words first: 不得不 is not a 不.
        for phrase in (*phrases, *sorted(WORDS_ZH, key=len, reverse=True)):
            for head, rest in patterns_zh(phrase):
                by_head.setdefault(head, []).append(rest)
        # One branch for each first character, and a look ahead in front of them all: most
        # characters begin nothing, and are skipped by one test.
        heads = "".join(by_head)
        chinese = "|".join(f"{head}(?:{'|'.join(rests)})" for head, rests in by_head.items())
        self._mixed: Final = re.compile(
            f"(?=[{heads}{_HEADS}])(?:(?=[{heads}])(?:{chinese})|{_WORD}|{_MARKS}|{_COMMA})"
        )

    def __call__(self, text: str) -> list[str]:
        """Return the tokens of a text in their order, in lower case."""
        if "\n" in text:
            text = _BREAK.sub(" ; ", text).replace("\n", " ")
        if text.isascii():
            return _ascii_tokens(text)
        if _WIDE.search(text) is None:
            return _ascii_tokens(_in_ascii(text))
        return self._mixed_tokens(text.lower())

    def _mixed_tokens(self, text: str) -> list[str]:
        if _FULL_WIDTH.search(text):
            text = text.translate(_TO_HALF_WIDTH)
        text = text.replace("’", "'").replace("e.g. ", " ").replace("i.e. ", " ")
        token_of = self._token_of
        return [token_of[found] for found in self._mixed.findall(text)]


class _TokenOf(dict[str, str]):
    """Map a match in a text to its token: a mark, a particle, a phrase or a word."""

    def __init__(self, phrases_zh: Mapping[str, Sequence[str]]) -> None:
        super().__init__({word: word for word in (*WORDS_ZH, *",，;；.。．!！?？…—–")})
        self._tokens: Final = tuple(phrases_zh)
        groups = (f"({'|'.join(map(_pattern, phrases))})" for phrases in phrases_zh.values())
        self._phrase: Final = re.compile("|".join(groups))

    def __missing__(self, found: str) -> str:
        if not is_chinese(found):
            return found
        phrase = self._phrase.fullmatch(found)
        lastindex = None if phrase is None else phrase.lastindex
        token = found if lastindex is None else self._tokens[lastindex - 1]
        # There are more spellings than are worth the memory; people use a few of them.
        if len(self) < _SPELLINGS_REMEMBERED:
            self[found] = token
        return token


def _pattern(phrase: str) -> str:
    return "|".join(head + rest for head, rest in patterns_zh(phrase))


def _in_ascii(text: str) -> str:
    for mark, plain in _TYPOGRAPHY:
        text = text.replace(mark, plain)
    # Other letters become words that match nothing.
    return text.encode("ascii", "backslashreplace").decode()


def _ascii_tokens(text: str) -> list[str]:
    """Split ASCII as the regular expression would, in a third of the time.

    Most descriptions are ASCII. Marks are separated by spaces, and the rest is two passes in C.
    """
    text = f" {text} ".replace("e.g. ", " ").replace("i.e. ", " ").replace(",", " , ")
    # The full stop of a sentence, not the one in a file's name.
    text = text.replace(". ", " ; ")
    for mark in ";!?":
        if mark in text:
            text = text.replace(mark, f" {mark} ")
    if "- " in text:
        text = text.replace(" - ", " , ").replace(" -- ", " , ")
    text = text.encode().translate(_ASCII_WORDS).decode()
    if "'" in text:
        text = text.replace(" '", " ").replace("' ", " ")
    return text.split()
