"""Outages of Redis: the writing thread sees them at once, another thread notices their end.

A command to a server that hangs takes a whole timeout. If the thread that empties the queue waited
for it, the queue would overflow; so a thread of its own asks, and lives only while Redis is away.
"""

import threading
import time
from collections.abc import Callable


class Outage:
    """The state of Redis: available or away.

    Args:
        answers: asks Redis, slowly at worst; returns True if it is available.
        retry_after_s: the pause between two questions.
        on_end: called, in the asking thread, when Redis responds again.
    """

    def __init__(
        self, answers: Callable[[], bool], retry_after_s: float, on_end: Callable[[], None]
    ) -> None:
        self._answers = answers
        self._retry_after_s = retry_after_s
        self._on_end = on_end
        self.lasts = False

    def begin(self) -> None:
        """Note that Redis is away, and watch for its return."""
        if self.lasts:
            return
        self.lasts = True
        watch = threading.Thread(target=self._watch, name="trackrecord-outage", daemon=True)
        try:
            watch.start()
        except RuntimeError:  # no more threads: then the next batch finds out
            self.lasts = False

    def _watch(self) -> None:
        while self.lasts:
            time.sleep(self._retry_after_s)
            if self._answers():
                self.lasts = False
                self._on_end()
                return

    def give_up(self) -> None:
        """Stop watching."""
        self.lasts = False
