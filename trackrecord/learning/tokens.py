"""Tokens: a text as the row of words, marks and Chinese phrasings that can mean something here."""

import re
from collections.abc import Iterable
from typing import Final

from .negation import WORDS_ZH
from .phrases import patterns_zh

# An empty line, or the next item of a list.
_BREAK: Final = re.compile(r"\n(?=[ \t]{0,8}(?:\n|[-*+•]\s|[0-9]{1,3}[.)]\s))")
# What parts words in ASCII, apart from apostrophes and the marks that are tokens themselves.
_PARTING: Final = str.maketrans(
    {code: " " for code in range(128) if not chr(code).isalnum() and chr(code) not in "',;!?"}
)

_WORD = r"[a-z0-9]+(?:'[a-z]+)?"
_MARKS = r"[,;!?。．｡；！？…—–]|\.(?=\s|$)|(?<=\s)--?(?=\s)"
# A Chinese comma ends a clause, but not where the enumeration goes on.
_COMMA_ZH = r"，(?!\s?(?:或|以及|及|和))"

_FULL_WIDTH: Final = re.compile(r"[０-９Ａ-Ｚａ-ｚ]")
_TO_HALF_WIDTH: Final = {
    code: code - 0xFEE0
    for code in (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))
}


class Tokeniser:
    """Takes texts apart, in time proportional to their length.

    Chinese has no words to part, so it is told which phrases to look for.
    """

    def __init__(self, phrases_zh: Iterable[str]) -> None:
        by_head: dict[str, list[str]] = {}
        # Longer words first: 不得不 is no 不.
        for phrase in (*phrases_zh, *sorted(WORDS_ZH, key=len, reverse=True)):
            for head, rest in patterns_zh(phrase):
                by_head.setdefault(head, []).append(rest)
        # One branch for each first character, and a look ahead in front of them all: most
        # characters begin nothing, and are passed at the price of one test.
        chinese = "|".join(f"{head}(?:{'|'.join(rests)})" for head, rests in by_head.items())
        self._mixed: Final = re.compile(
            f"(?=[{''.join(by_head)}])(?:{chinese})|{_WORD}|{_MARKS}|{_COMMA_ZH}"
        )

    def __call__(self, text: str) -> list[str]:
        """The tokens in their order, in lower case."""
        text = text.lower().replace("sub-task", "subtask").replace("e.g. ", "").replace("i.e. ", "")
        if "\n" in text:
            text = _BREAK.sub(" ; ", text)
        return _words_of(text) if text.isascii() else self._of_mixed(text)

    def _of_mixed(self, text: str) -> list[str]:
        if _FULL_WIDTH.search(text):
            text = text.translate(_TO_HALF_WIDTH)
        # Only a Chinese phrase can hold spaces, around what it has of Latin letters.
        return [token.replace(" ", "") for token in self._mixed.findall(text.replace("’", "'"))]


def _words_of(text: str) -> list[str]:
    """As the regular expression would, at half the price: most descriptions are ASCII."""
    text = f" {text} ".replace(",", " , ").replace(";", " ; ").replace("!", " ! ")
    text = text.replace("?", " ? ").replace(" - ", " , ").replace(" -- ", " , ")
    # The full stop of a sentence, not the one in a file's name.
    text = text.replace(". ", " ; ").replace(".\n", " ; ")
    return text.translate(_PARTING).replace(" '", " ").replace("' ", " ").split()
