"""How many outcomes a batch holds: as many as is fast, no more than fit into memory."""

from collections.abc import Sequence

from .arrivals import Entry

# Outcomes may suddenly be larger than those before; so fast a batch may grow.
_GROWTH = 4


class BatchSize:
    """Chooses the size of the next batch by the size of the outcomes in the last one.

    Redis can be asked for a number of entries, not of bytes. The first batch is small enough
    whatever it holds.

    Args:
        most: entries in a batch, at most.
        most_bytes: what the bodies of a batch are meant to stay within.
        largest_body: the size of the largest body, in bytes.
    """

    def __init__(self, most: int, most_bytes: int, largest_body: int) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._next = self._within(most_bytes // largest_body)

    @property
    def next(self) -> int:
        """Entries that the next batch is to hold."""
        return self._next

    def note(self, entries: Sequence[Entry]) -> None:
        """Take in the batch that was just read."""
        if not entries:
            return
        size = sum(len(fields.get(b"body", b"")) for _, fields in entries if fields)
        fitting = self._most_bytes * len(entries) // max(1, size)
        self._next = self._within(min(fitting, self._next * _GROWTH))

    def _within(self, count: int) -> int:
        return max(1, min(self._most, count))
