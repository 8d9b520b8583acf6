"""Patches as coding agents write them, between "*** Begin Patch" and "*** End Patch"."""

import re
from typing import Final

# A record that is lost may have told of a call, and that may have changed anything.
LOST: Final = "unreadable"
LOST_EDITS: Final = ("",)
MOST_EDITS: Final = 200
_PATCHED: Final = re.compile(
    r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)\s*$", re.MULTILINE
)


def patched_files(text: str) -> tuple[str, ...]:
    """Return the files that a patch in a text names; none without a patch."""
    if "*** Begin Patch" not in text:
        return ()
    return tuple(dict.fromkeys(_PATCHED.findall(text)))[:MOST_EDITS]
