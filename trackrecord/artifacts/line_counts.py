"""Counting the lines of a log that speak of errors, and of warnings."""

import re
from dataclasses import dataclass
from typing import Final

from .contents import line_blocks

_ERRORS: Final = (b"error", b"fatal", b"critical", b"panic", b"exception", b"traceback")
_WARNINGS: Final = (b"warn",)


def _lines_with(words: tuple[bytes, ...]) -> re.Pattern[bytes]:
    """Finds each line with one of the words once, as no part of another word.

    A word that is said to be absent does not count: "0 errors".
    """
    before = rb"(?<![a-z])(?<!\b0 )(?<!\bno )(?<!\bwithout )"
    return re.compile(rb"(?=[" + bytes({word[0] for word in words}) + rb"])" + before +
                      rb"(?:" + rb"|".join(words) + rb")[^\n]*+")  # fmt: skip


_ERROR_LINE: Final = _lines_with(_ERRORS)
_EITHER_LINE: Final = _lines_with((*_ERRORS, *_WARNINGS))


@dataclass(frozen=True)
class LineCounts:
    """What a log says.

    Attributes:
        errors: lines that speak of an error.
        warnings: lines that speak of a warning, and of no error.
        first_error: where the first line with an error begins; None when there is none.
    """

    errors: int
    warnings: int
    first_error: int | None


def count_lines(data: bytes) -> LineCounts:
    """Count the lines by the worse of what they speak of, in time proportional to the length."""
    errors = either = 0
    first: int | None = None
    for start, block in line_blocks(data):
        lowered = block.lower()
        # Looking for a word is many times faster than matching: most blocks hold none.
        found = len(_ERROR_LINE.findall(lowered)) if _holds(lowered, _ERRORS) else 0
        errors += found
        either += len(_EITHER_LINE.findall(lowered)) if _holds(lowered, _WARNINGS) else found
        if found and first is None and (match := _ERROR_LINE.search(lowered)):
            first = start + lowered.rfind(b"\n", 0, match.start()) + 1
    return LineCounts(errors, either - errors, first)


def _holds(block: bytes, words: tuple[bytes, ...]) -> bool:
    return any(word in block for word in words)
