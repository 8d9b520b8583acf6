"""Reading the next batch while this one is learnt.

Redis needs a third of the time that a batch takes; while SQL runs, it and this process can both
work. What was read ahead and not learnt is pending like any other entry: nothing is lost with it.
"""

from concurrent.futures import Future, ThreadPoolExecutor

from .arrivals import Entry
from .stream import OutcomeStream


class ReadAhead:
    """Reads batches of a stream, one ahead while there is a backlog.

    Args:
        stream: where entries are read.
        count: entries in a batch.
    """

    def __init__(self, stream: OutcomeStream, count: int) -> None:
        self._stream = stream
        self._count = count
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="read-ahead")
        self._ahead: Future[list[Entry]] | None = None

    def next_batch(self, block_s: float) -> list[Entry]:
        """The next batch; waits for the first entry when the stream is empty."""
        entries = self._taken() or self._stream.read_new(self._count, block_s)
        if len(entries) == self._count:
            self._ahead = self._thread.submit(self._stream.read_new, self._count, None)
        return entries

    def last_batch(self) -> list[Entry]:
        """What was read ahead already, for whoever is about to end."""
        return self._taken()

    def _taken(self) -> list[Entry]:
        ahead, self._ahead = self._ahead, None
        return ahead.result() if ahead is not None else []
