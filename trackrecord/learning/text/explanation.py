"""The parts of an explanation of any subject."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Explanation:
    """The reasons for a standing: its numbers, and how they came about.

    Attributes:
        because: the rules that decided, each with the numbers it saw.
        to_change: what it would take to stand elsewhere.
    """

    because: tuple[str, ...]
    to_change: tuple[str, ...]


def more(count: int, noun: str) -> str:
    """Return "1 more outcome", "2 more outcomes"."""
    return f"{count} more {noun}{'' if count == 1 else 's'}"
