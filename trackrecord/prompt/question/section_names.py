"""The names by which people include and exclude sections of learnt entries."""

from collections.abc import Iterable
from typing import Final

# `candidates/sections` has a row for each of them.
FIELDS: Final = (
    "lessons",
    "anti_patterns",
    "failing",
    "patterns",
    "procedures",
    "competences",
    "memories",
)

# What is on record of the task itself; `context()` alone knows its task.
ERRORS: Final = "errors"
EVIDENCE: Final = "evidence"
NAMES: Final = (*FIELDS, ERRORS, EVIDENCE)
# With the section of an earlier version, in which nothing stands.
ACCEPTED: Final = frozenset({*NAMES, "past_tasks"})


def unknown_section(name: object) -> str:
    """Return one line that names an unknown section, and the known ones."""
    return f"there is no section {str(name)[:80]!r}: the sections are {', '.join(NAMES)}"


def checked_sections(names: Iterable[object]) -> None:
    """Check names of sections.

    Raises:
        ValueError: there is no such section; the message names it and those that there are.
    """
    for name in names:
        if name not in ACCEPTED:
            raise ValueError(unknown_section(name))
