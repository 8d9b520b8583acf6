"""Counts of what capture has lost in this process, by reason."""

from collections import Counter
from collections.abc import Mapping
from threading import Lock


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
