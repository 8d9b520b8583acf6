"""The queue in memory between the agent's threads and the writing thread.

Putting never waits for the writer, and may happen inside a signal handler or a finaliser: the one
lock that it takes is reentrant and is held for a few instructions only.
"""

import threading
import time
from collections import deque

from .waiting import WaitingItem


class BoundedQueue:
    """A queue for one reader, bounded in number and in bytes.

    Items that the reader has taken still count until it is done with them.

    Args:
        max_items: how many outcomes may wait.
        max_bytes: how large they may be together.

    Attributes:
        accepted: the number of items ever put.
        finished: the number of items that the reader is done with, oldest first.
    """

    def __init__(self, max_items: int, max_bytes: int) -> None:
        self._max_items = max_items
        self._max_bytes = max_bytes
        self._lock = threading.RLock()
        self._items: deque[WaitingItem] = deque()
        self._in_hand: list[WaitingItem] = []
        self._bytes = 0
        self.accepted = 0
        self.finished = 0
        self._reader_sleeps = False
        self._bell = _Bell()
        self._progress = threading.Condition()

    def __len__(self) -> int:
        """Return how many items wait, including those that the reader has taken."""
        return self.accepted - self.finished

    def limit(self, max_items: int) -> None:
        """Change the number of items; those that wait already stay.

        Without the lock: a signal may have interrupted the thread that holds it, whose handler
        waits for the writer to be ready.
        """
        self._max_items = max_items

    def put(self, item: WaitingItem) -> bool:
        """Add an item; return False if the queue is full."""
        size = len(item.body)
        with self._lock:
            if len(self._items) >= self._max_items or self._bytes + size > self._max_bytes:
                return False
            self._items.append(item)
            self._bytes += size
            self.accepted += 1
            wake, self._reader_sleeps = self._reader_sleeps, False
        if wake:
            self._bell.ring()
        return True

    def take(self, max_items: int, max_bytes: int) -> list[WaitingItem]:
        """Hand the oldest items to the reader; at least one if any waits."""
        with self._lock:
            taken = self._in_hand = self._pop(max_items, max_bytes)
            self._reader_sleeps = not taken
            return taken

    def _pop(self, max_items: int, max_bytes: int) -> list[WaitingItem]:
        taken: list[WaitingItem] = []
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
        """Note that the items taken by the reader are safe, or counted as dropped."""
        with self._lock:
            self.finished += len(self._in_hand)
            self._in_hand = []
        self._tell()

    def seize(self) -> list[WaitingItem]:
        """Remove and return all items, also those that the reader has taken."""
        with self._lock:
            seized = [*self._in_hand, *self._items]
            self._in_hand = []
            self._items.clear()
            self._bytes = 0
            self.finished = self.accepted
        self._tell()
        return seized

    def _tell(self) -> None:
        with self._progress:
            self._progress.notify_all()

    def wait(self, timeout_s: float | None) -> None:
        """Let the reader wait until an item is put, it is hurried, or the time is over."""
        self._bell.wait(timeout_s)

    def hurry(self) -> None:
        """Wake the reader if it waits."""
        self._bell.ring()

    def wait_until_done(self, timeout_s: float) -> bool:
        """Wait until all items put before this call are done; return False if it takes too long."""
        deadline = time.monotonic() + timeout_s
        target = self.accepted
        self.hurry()
        with self._progress:
            while self.finished < target:
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                self._progress.wait(left)
        return True


class OneTimeGate:
    """A gate that opens once and lets all waiters through; safe in a signal handler.

    An Event would not be: a handler that waits while the code below it does, too, needs the lock
    that this code holds.
    """

    def __init__(self) -> None:
        self._is_open = False
        self._lock = threading.Lock()
        self._lock.acquire()

    def open(self) -> None:
        """Let all through that wait, and all that come."""
        self._is_open = True
        try:
            self._lock.release()
        except RuntimeError:  # it is open already
            return

    def wait(self, timeout_s: float) -> None:
        """Wait until the gate is open, or the time is over."""
        if not self._is_open and self._lock.acquire(timeout=max(0.0, timeout_s)):
            self.open()  # for the next one


class _Bell:
    """A bell that wakes one waiter; safe to ring anywhere, a signal handler included.

    An Event would not be: the lock inside it is not reentrant.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()

    def ring(self) -> None:
        try:
            self._lock.release()
        except RuntimeError:  # it is ringing already
            return

    def wait(self, timeout_s: float | None) -> None:
        self._lock.acquire(timeout=-1 if timeout_s is None else max(0.0, timeout_s))
