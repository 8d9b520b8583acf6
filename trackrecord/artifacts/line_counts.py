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
    # What stands in front is looked at last: a pattern that begins with letters is searched fast.
    apart = (rb"[a-z]", rb"\b0 ", rb"\bno ", rb"\bwithout ")
    branches = (word + b"".join(b"(?<!" + each + word + b")" for each in apart) for word in words)
    return re.compile(rb"(?:" + rb"|".join(branches) + rb")[^\n]*+")


_ERROR_LINE: Final = _lines_with(_ERRORS)
_LINE: Final = _lines_with((*_ERRORS, *_WARNINGS))


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
    errors = warnings = 0
    first: int | None = None
    for start, block in line_blocks(data):
        lowered = block.lower()
        # Each from its first word on.
        for line in _LINE.findall(lowered):
            if line.startswith(_WARNINGS) and _ERROR_LINE.search(line) is None:
                warnings += 1
            else:
                errors += 1
        if errors and first is None and (match := _ERROR_LINE.search(lowered)):
            first = start + lowered.rfind(b"\n", 0, match.start()) + 1
    return LineCounts(errors, warnings, first)
