"""Programs that verify: what each of them is for, by its name or by the words of it."""

from enum import StrEnum
from functools import lru_cache
from typing import Final

from trackrecord.learning.competences.episodes.checks import MAKES
from trackrecord.learning.text.words import words_of

from ..tables import Tables


class Purpose(StrEnum):
    """The purpose of a command."""

    TEST = "test"
    TYPE_CHECK = "type check"
    LINT = "lint"
    BUILD = "build"
    CHECK = "check"
    """Several of these at once, or one of them that its name does not tell: `make check`."""
    FORMAT = "format"
    INSTALL = "install"
    RUN = "run"
    SEARCH = "search"
    READ = "read"
    OTHER = "other"


CHECKING: Final = frozenset(
    {Purpose.TEST, Purpose.TYPE_CHECK, Purpose.LINT, Purpose.BUILD, Purpose.CHECK}
)
"""The purposes of commands that verify earlier work."""


_TABLES: Final = Tables(__file__)
_BY_WORD: Final = {Purpose(name): words for name, words in _TABLES.by_name("by_word").items()}
_BY_PROGRAM: Final = {
    program: Purpose(name)
    for name, programs in _TABLES.by_name("by_program").items()
    for program in programs
}


def purpose_by_words(words: frozenset[str]) -> Purpose | None:
    """Return what something with these words in its name checks; None if it checks nothing."""
    return next((purpose for purpose, known in _BY_WORD.items() if known & words), None)


@lru_cache(maxsize=1024)
def purpose_of_program(program: str) -> Purpose | None:
    """Return what a program always checks, whatever its arguments; None for other programs."""
    if program in _BY_PROGRAM:
        return _BY_PROGRAM[program]
    words = words_of(program)
    return None if words & MAKES else purpose_by_words(words)
