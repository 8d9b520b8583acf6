"""What Redis does while SQL runs: hand over the next batch, forget the one that is learnt.

Redis needs a third of the time that a batch takes. What was read ahead and not learnt is pending
like any other entry; what is learnt and not yet acknowledged is recognised when it comes again.
"""

from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor

from .arrivals import Entry
from .batch_size import BatchSize
from .stream import OutcomeStream


class BackgroundStream:
    """Reads batches of a stream, one ahead while there is a backlog, and acknowledges them.

    All in the order in which it is asked, by one thread of its own.

    Args:
        stream: where entries are read and acknowledged.
        size: how many entries a batch holds.
    """

    def __init__(self, stream: OutcomeStream, size: BatchSize) -> None:
        self._stream = stream
        self._size = size
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="stream")
        self._ahead: Future[list[Entry]] | None = None
        self._asked = 0
        self._acknowledging: list[Future[None]] = []

    @property
    def has_more(self) -> bool:
        """Whether the last batch was full, so that another one is being read."""
        return self._ahead is not None

    def next_batch(self, block_s: float) -> list[Entry]:
        """The next batch; waits for the first entry when the stream is empty."""
        entries = self.last_batch()
        if not entries:
            self._asked = self._size.next
            entries = self._stream.read_new(self._asked, block_s)
        is_full = len(entries) == self._asked
        self._size.note(entries)
        if is_full:
            self._asked = self._size.next
            self._ahead = self._thread.submit(self._stream.read_new, self._asked, None)
        return entries

    def last_batch(self) -> list[Entry]:
        """What was read ahead already, for whoever is about to end."""
        ahead, self._ahead = self._ahead, None
        return ahead.result() if ahead is not None else []

    def acknowledge(self, entry_ids: Iterable[bytes]) -> None:
        """Remove entries that are learnt, soon; `settle` says whether Redis did."""
        acknowledged = self._thread.submit(self._stream.acknowledge, list(entry_ids))
        self._acknowledging.append(acknowledged)

    def settle(self) -> None:
        """Wait until all that is learnt is acknowledged.

        Raises:
            redis.RedisError: Redis did not; what it still holds is recognised when it comes again.
        """
        acknowledging, self._acknowledging = self._acknowledging, []
        for each in acknowledging:
            each.result()
