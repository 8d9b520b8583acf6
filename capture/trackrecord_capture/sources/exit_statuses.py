"""Exit statuses that agents write below, or above, what a command printed."""

import re
from typing import Final

_STATUS: Final = (
    r"\[?<?(?:shellId: [\w-]{1,40} completed with exit code|Command exited with code"
    r"|Command failed with exit code:|Exit code:?|exit status:?) (-?\d{1,9})[.>\]]{0,2}"
)
_LAST_LINE: Final = re.compile(rf"\s*(?:\A|\n){_STATUS}\s*\Z", re.IGNORECASE)
_FIRST_LINE: Final = re.compile(rf"\A{_STATUS}[ \t]*(?:\n|\Z)", re.IGNORECASE)
_LONGEST: Final = 200


def last_line_status(text: str) -> tuple[str, int | None]:
    """Return what a command printed, and the exit status that an agent wrote below it."""
    found = _LAST_LINE.search(text, max(0, len(text) - _LONGEST))
    return (text[: found.start()], int(found[1])) if found else (text, None)


def first_line_status(text: str) -> tuple[str, int | None]:
    """Return what a command printed, and the exit status that an agent wrote above it."""
    found = _FIRST_LINE.match(text[:_LONGEST])
    return (text[found.end() :], int(found[1])) if found else (text, None)
