"""The nights of the process that learns on one machine, and when each is due."""

import time
from collections.abc import Callable
from typing import Final

from .wake_ups import CATCH_UP, CONSOLIDATE

_FIRST_S: Final = 5.0
_LOOK_AT_CLOCK_EVERY_S: Final = 30.0


class Nights:
    """The next night: when it is due, by a clock that is never set, and which task it is.

    What was missed is caught up at the start, once the clock on the wall was set or the machine has
    slept, and after a night that failed. A night that comes within half an interval of the last one
    is that night again, by a clock that was set back: then, too, only what was missed is caught up.

    Args:
        again_s: after how many seconds one that failed is tried again.
        was_set: whether the clock on the wall was set since it was asked last.
        monotonic: a clock that is never set, in seconds.
    """

    def __init__(
        self,
        again_s: float,
        *,
        was_set: Callable[[], bool],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._again_s = again_s
        self._was_set = was_set
        self._monotonic = monotonic
        self._due_at, self._task = monotonic() + _FIRST_S, CATCH_UP
        self._not_before = 0.0

    def wait_s(self) -> float:
        """Return in how many seconds to look again."""
        return max(0.0, min(_LOOK_AT_CLOCK_EVERY_S, self._due_at - self._monotonic()))

    def due(self) -> str | None:
        """Return the task that is due; None while none is."""
        now = self._monotonic()
        if self._was_set():
            self._due_at, self._task = now, CATCH_UP
        return self._task if now >= self._due_at else None

    def note(self, task: str, next_s: float | None) -> None:
        """Note that a task has ended.

        Args:
            task: which.
            next_s: in how many seconds the crontab has the next night; None if it failed.
        """
        now = self._monotonic()
        if next_s is None:
            self._due_at, self._task = now + self._again_s, CATCH_UP
            return
        if task == CONSOLIDATE:
            self._not_before = now + next_s / 2
        self._due_at = now + next_s
        self._task = CONSOLIDATE if self._due_at >= self._not_before else CATCH_UP
