"""Work with Redis while SQL runs: read the next batch, acknowledge the last one.

Redis needs a third of the time that a batch takes. Entries that were read ahead and not learnt
are pending like any other; those learnt but not yet acknowledged are recognised when they come
again.
"""

from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait

from trackrecord.redis.fleet_counts import Counts

from .batch_size import BatchSize
from .entries import Entry
from .stream import OutcomeStream


class BackgroundStream:
    """Read batches of a stream, one ahead while there is a backlog, and acknowledge them.

    A thread of its own does all of it, in the order of the calls.

    Args:
        stream: where entries are read and acknowledged.
        size: how many entries a batch holds.
    """

    def __init__(self, stream: OutcomeStream, size: BatchSize) -> None:
        self._stream = stream
        self._size = size
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="stream")
        self._ahead: Future[list[Entry]] | None = None
        # Whether what is read ahead waits for its first entry.
        self._is_waiting = False
        self._asked = 0
        self._acknowledging: list[Future[None]] = []

    @property
    def has_more(self) -> bool:
        """Return whether the last batch was full, so that another one is being read."""
        return self._ahead is not None

    def next_batch(self, block_s: float, *, wait_s: float | None = None) -> list[Entry]:
        """Return the next batch; wait for the first entry if the stream is empty.

        Args:
            block_s: for how long Redis waits for it. Redis looks at the time a few times a second
                only, so that this ends late.
            wait_s: after how long this returns without any, while Redis waits on.
        """
        entries = [] if self._is_waiting else self.last_batch()
        if not entries and not self._is_waiting:
            self._asked = self._size.next
            if wait_s:
                self._is_waiting = True
                self._ahead = self._thread.submit(self._stream.read_new, self._asked, block_s)
            else:
                entries = self._stream.read_new(self._asked, block_s if wait_s is None else None)
        if self._is_waiting:
            assert self._ahead is not None  # noqa: S101 - it is what waits
            if not wait([self._ahead], wait_s).done:
                return []
            entries = self.last_batch()
        is_full = len(entries) == self._asked
        self._size.note(entries)
        if is_full:
            self._asked = self._size.next
            self._ahead = self._thread.submit(self._stream.read_new, self._asked, None)
        return entries

    def last_batch(self) -> list[Entry]:
        """Return the batch that was read ahead, before the process ends."""
        self._is_waiting = False
        ahead, self._ahead = self._ahead, None
        return ahead.result() if ahead is not None else []

    def acknowledge(self, entry_ids: Iterable[bytes], counts: Counts) -> None:
        """Remove learnt entries soon, and count them; `settle` waits for the result."""
        acknowledged = self._thread.submit(self._stream.acknowledge, list(entry_ids), counts)
        self._acknowledging.append(acknowledged)

    def settle(self) -> None:
        """Wait until all learnt entries are acknowledged.

        Raises:
            redis.RedisError: Redis refused; entries that it still holds are recognised when they
            come
                again.
        """
        acknowledging, self._acknowledging = self._acknowledging, []
        for each in acknowledging:
            each.result()
