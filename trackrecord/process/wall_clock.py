"""The clock on the wall beside one that is never set."""

import time
from typing import Final

# Smaller corrections are made all the time.
_WAVERS_S: Final = 5.0


class WallClock:
    """Notice that the clock on the wall was set, or that the machine has slept."""

    def __init__(self) -> None:
        self._ahead_s = _ahead_s()

    def was_set(self) -> bool:
        """Return whether it was set since this object was made, or last said that it was."""
        ahead_s = _ahead_s()
        if abs(ahead_s - self._ahead_s) <= _WAVERS_S:
            return False
        self._ahead_s = ahead_s
        return True


def _ahead_s() -> float:
    return time.time() - time.monotonic()
