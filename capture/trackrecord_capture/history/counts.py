"""Counts of the logs that were read, by result, and of what was lost, by reason."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Final

from ..sources.source import Unreadable


class CountedSinks:
    """Counts what sinks lose, from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._dropped = Counter[str]()

    def note_dropped(self, new: Mapping[str, int]) -> None:
        """Count entries that were lost, by reason."""
        with self._lock:
            self._dropped.update(new)

    def dropped(self) -> dict[str, int]:
        """Return the entries that were lost until now, by reason."""
        with self._lock:
            return dict(self._dropped)


_MOST_NAMED: Final = 100


@dataclass
class ReadingCounts:
    """Counts of one reading, or of several.

    Attributes:
        logs: how many logs were read, at least in part.
        unchanged: how many had nothing new.
        runs: how many runs were published.
        amended: how many earlier runs were amended, because a commit of theirs was reverted.
        left_out: how many runs were left out: of programs, or in folders that are.
        copied: how many runs another session has, which forked, resumed or copied sessions repeat.
        refused: how many runs no outcome could be made of, or Redis and the spool did not take.
        bad: how many parts of logs could not be read.
        named: the first of these, each with its log.
        reasons: why runs were refused, without their content; the first of each kind.
    """

    logs: int = 0
    unchanged: int = 0
    runs: int = 0
    amended: int = 0
    left_out: int = 0
    copied: int = 0
    refused: int = 0
    bad: int = 0
    named: list[tuple[Path, Unreadable]] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    def note_bad(self, path: Path, bad: Unreadable) -> None:
        """Count and name a part of a log that could not be read."""
        self.bad += 1
        if len(self.named) < _MOST_NAMED:
            self.named.append((path, bad))

    def note_refused(self, reason: str, count: int = 1) -> None:
        """Count runs that were not published, and keep the reason."""
        self.refused += count
        if reason not in self.reasons and len(self.reasons) < _MOST_NAMED:
            self.reasons.append(reason)

    def add(self, other: "ReadingCounts") -> None:
        """Add the counts of another reading."""
        names = ("logs", "unchanged", "runs", "amended", "left_out", "copied", "refused", "bad")
        for name in names:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.named += other.named[: _MOST_NAMED - len(self.named)]
        self.reasons += [reason for reason in other.reasons if reason not in self.reasons]
