"""Choose the number of outcomes in a batch: fast, but bounded in memory."""

from collections.abc import Sequence

from .entries import Entry

# How fast a batch may grow: outcomes may suddenly be larger than those before.
_GROWTH = 4


class BatchSize:
    """Choose the size of the next batch by the size of the outcomes in the last one.

    Redis can be asked for a number of entries, not of bytes. The first batch is small enough
    whatever it holds.

    Args:
        most: maximum number of entries in a batch.
        most_bytes: target total size of the bodies in one batch, in bytes.
        largest_body: the size of the largest body, in bytes.
    """

    def __init__(self, most: int, most_bytes: int, largest_body: int) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._next = self._within(most_bytes // largest_body)

    @property
    def next(self) -> int:
        """The number of entries that the next batch should hold."""
        return self._next

    def note(self, entries: Sequence[Entry]) -> None:
        """Take account of the batch that was just read."""
        if not entries:
            return
        size = sum(len(fields.get(b"body", b"")) for _, fields in entries if fields)
        fitting = self._most_bytes * len(entries) // max(1, size)
        self._next = self._within(min(fitting, self._next * _GROWTH))

    def _within(self, count: int) -> int:
        return max(1, min(self._most, count))
