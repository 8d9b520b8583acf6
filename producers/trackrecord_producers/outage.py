"""Redis being away, as the writing thread sees it: known at once, and its end noticed elsewhere.

A server that hangs costs a whole timeout to ask. Asked by the thread that empties the queue, the
queue would overflow meanwhile; so a thread of its own asks, and lives only while Redis is away.
"""

import threading
import time
from collections.abc import Callable


class Outage:
    """Whether Redis is away.

    Args:
        answers: asks Redis; slow at worst, True when it is there.
        retry_after_s: the pause between two questions.
        on_end: called, in the asking thread, when Redis answers again.
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
