"""Counting the lines of a log that speak of errors, and of warnings."""

import re
from dataclasses import dataclass
from typing import Final

from ..contents import line_blocks

_ERRORS: Final = (b"error", b"fatal", b"critical", b"panic", b"exception", b"traceback")
_WARNINGS: Final = (b"warn",)


def _lines_with(words: tuple[bytes, ...]) -> re.Pattern[bytes]:
    """Return a pattern that finds each line with one of the words once, as a whole word.

    A word with a negation does not count: "0 errors".
    """
    # The text in front is checked last: a search for a pattern that begins with letters is fast.
    apart = (rb"[a-z]", rb"\b0 ", rb"\bno ", rb"\bwithout ")
    branches = (word + b"".join(b"(?<!" + each + word + b")" for each in apart) for word in words)
    return re.compile(rb"(?:" + rb"|".join(branches) + rb")[^\n]*+")


_ERROR_LINE: Final = _lines_with(_ERRORS)
_LINE: Final = _lines_with((*_ERRORS, *_WARNINGS))


@dataclass(frozen=True)
class LineCounts:
    """The numbers of a log's lines with errors and with warnings.

    Attributes:
        errors: lines that mention an error.
        warnings: lines that mention a warning, but not an error.
        first_error: the position of the first line with an error; None without one.
    """

    errors: int
    warnings: int
    first_error: int | None


def count_lines(data: bytes) -> LineCounts:
    """Count lines with errors, and other lines with warnings, in linear time."""
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
