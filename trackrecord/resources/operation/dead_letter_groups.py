"""Dead letters grouped by what is wrong with them: one mistake sets many aside."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import Final

from .dead_letters import DeadLetter

# The parts of a reason that differ from letter to letter.
_VARYING: Final = re.compile(r"'[^']*'|\"[^\"]*\"|\d+")
_SHOWN: Final = 10
# Each comes with its body, which may have a megabyte.
MOST_GROUPED: Final = 5_000


@dataclass(frozen=True)
class LetterGroup:
    """Dead letters that were set aside for the same reason.

    Attributes:
        id: names the group.
        reason: that of its oldest letter.
        letters: the ids of its letters, the oldest first.
        first: when the oldest one was set aside, seconds since the epoch.
        last: when the newest one was.
        shown: its oldest letters.
    """

    id: str
    reason: str
    letters: tuple[str, ...]
    first: float
    last: float
    shown: tuple[DeadLetter, ...]


def fingerprint(reason: str) -> str:
    """Return what stays the same when only quoted texts and numbers of a reason differ."""
    return sha256(_VARYING.sub("…", reason).encode(errors="replace")).hexdigest()[:16]


def grouped(letters: Iterable[DeadLetter]) -> tuple[list[LetterGroup], bool]:
    """Return dead letters grouped by the reason, the largest group first; and if there are more.

    Args:
        letters: the oldest first; of more than `MOST_GROUPED` the rest is left alone.
    """
    waiting = iter(letters)
    groups: dict[str, _Group] = {}
    for letter in islice(waiting, MOST_GROUPED):
        groups.setdefault(fingerprint(letter.reason), _Group()).add(letter)
    is_more = next(waiting, None) is not None
    found = [group.finished(name) for name, group in groups.items()]
    found.sort(key=lambda each: (-len(each.letters), each.first, each.id))
    return found, is_more


class _Group:
    """A group while its letters come; most of them are only counted."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._shown: list[DeadLetter] = []
        self._last = 0.0

    def add(self, letter: DeadLetter) -> None:
        """Take in the next letter."""
        self._ids.append(letter.id)
        self._last = letter.set_aside_at
        if len(self._shown) < _SHOWN:
            self._shown.append(letter)

    def finished(self, name: str) -> LetterGroup:
        """Return the group as it is shown."""
        first = self._shown[0]
        return LetterGroup(
            name,
            first.reason,
            tuple(self._ids),
            first.set_aside_at,
            self._last,
            tuple(self._shown),
        )
