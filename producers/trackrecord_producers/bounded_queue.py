"""What waits in memory between the agent's threads and the one that writes.

Putting never waits for the writer, and may happen inside a signal handler or a finaliser: the one
lock that it takes is reentrant and is held for a few instructions only.
"""

import threading
import time
from collections import deque

from .cargo import Waiting


class BoundedQueue:
    """A queue for one reader, bounded in number and in bytes.

    What the reader has taken stays the queue's concern until it is done with it.

    Args:
        max_items: how many outcomes may wait.
        max_bytes: how large they may be together.
    """

    def __init__(self, max_items: int, max_bytes: int) -> None:
        self._max_items = max_items
        self._max_bytes = max_bytes
        self._lock = threading.RLock()
        self._items: deque[Waiting] = deque()
        self._in_hand: list[Waiting] = []
        self._bytes = 0
        self._put = 0
        self._done = 0
        self._reader_sleeps = False
        self._bell = _Bell()
        self._progress = threading.Condition()

    def __len__(self) -> int:
        """How many wait, those in the reader's hand among them."""
        return self._put - self._done

    @property
    def accepted(self) -> int:
        """How many were ever put."""
        return self._put

    @property
    def finished(self) -> int:
        """How many of all that were ever put the reader is done with, oldest first."""
        return self._done

    def limit(self, max_items: int, max_bytes: int) -> None:
        """Change the bounds; what waits already stays."""
        with self._lock:
            self._max_items, self._max_bytes = max_items, max_bytes

    def put(self, item: Waiting) -> bool:
        """Add an outcome; False when there is no room for it."""
        size = len(item.body)
        with self._lock:
            if len(self._items) >= self._max_items or self._bytes + size > self._max_bytes:
                return False
            self._items.append(item)
            self._bytes += size
            self._put += 1
            wake, self._reader_sleeps = self._reader_sleeps, False
        if wake:
            self._bell.ring()
        return True

    def take(self, max_items: int, max_bytes: int) -> list[Waiting]:
        """The oldest outcomes, into the reader's hand; at least one when any waits."""
        with self._lock:
            taken = self._in_hand = self._pop(max_items, max_bytes)
            self._reader_sleeps = not taken
            return taken

    def _pop(self, max_items: int, max_bytes: int) -> list[Waiting]:
        taken: list[Waiting] = []
        size = 0
        while self._items and len(taken) < max_items:
            size += len(self._items[0].body)
            if taken and size > max_bytes:
                break
            item = self._items.popleft()
            self._bytes -= len(item.body)
            taken.append(item)
        return taken

    def done(self) -> None:
        """What the reader had in its hand is safe, or counted as dropped."""
        with self._lock:
            self._done += len(self._in_hand)
            self._in_hand = []
        self._tell()

    def seize(self) -> list[Waiting]:
        """Everything that waits, what is in the reader's hand too, taken away for good."""
        with self._lock:
            seized = [*self._in_hand, *self._items]
            self._in_hand = []
            self._items.clear()
            self._bytes = 0
            self._done = self._put
        self._tell()
        return seized

    def _tell(self) -> None:
        with self._progress:
            self._progress.notify_all()

    def wait(self, timeout_s: float | None) -> None:
        """The reader waits until something is put, it is hurried, or the time is over."""
        self._bell.wait(timeout_s)

    def hurry(self) -> None:
        """Let the reader wait no longer."""
        self._bell.ring()

    def wait_until_done(self, timeout_s: float) -> bool:
        """Wait until all that was put before this call is done; False when it takes too long."""
        deadline = time.monotonic() + timeout_s
        target = self._put
        self.hurry()
        with self._progress:
            while self._done < target:
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                self._progress.wait(left)
        return True


class _Bell:
    """Wakes one waiter; safe to ring anywhere, a signal handler included.

    An Event would not be: the lock inside it is not reentrant.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()

    def ring(self) -> None:
        try:
            self._lock.release()
        except RuntimeError:  # it rings already
            return

    def wait(self, timeout_s: float | None) -> None:
        self._lock.acquire(timeout=-1 if timeout_s is None else max(0.0, timeout_s))
