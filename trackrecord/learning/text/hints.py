"""The mark of our own hints, and outputs without them: what we said is nothing that a tool said.

A hint that stands in a tool's output would else be read as the tool's error, and be learnt.
"""

import re
from typing import Final

HINT_MARK: Final = "trackrecord: "
"""What each line of a hint begins with."""

# Clients wrap what a hook hands them in tags, and say where it comes from.
_HINT: Final = re.compile(
    rf"^[ \t]*(?:<[\w-]{{1,40}}>[ \t]*)?(?:[\w :-]{{1,80}} hook additional context:[ \t]*)?"
    rf"{re.escape(HINT_MARK)}[^\n]*\n?",
    re.MULTILINE,
)


def without_hints(text: str) -> str:
    """Return a tool's output without the lines that are hints of ours."""
    return _HINT.sub("", text) if HINT_MARK in text else text
