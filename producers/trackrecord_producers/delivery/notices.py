"""Log problems for the person who runs the agent, without flooding the agent's log."""

import logging
import threading
import time
from contextlib import suppress

_log = logging.getLogger("trackrecord")
_PAUSE_S = 60.0


class Notices:
    """Log lines of which each kind comes once, and again only after a pause.

    Args:
        pause_s: seconds between two lines of one kind.
    """

    def __init__(self, pause_s: float = _PAUSE_S) -> None:
        self._pause_s = pause_s
        self._lock = threading.RLock()
        self._quiet_until: dict[str, float] = {}

    def say(self, kind: str, message: str) -> None:
        """Log a warning, unless its kind was logged a moment ago; never raises."""
        now = time.monotonic()
        with self._lock:
            if now < self._quiet_until.get(kind, 0.0):
                return
            self._quiet_until[kind] = now + self._pause_s
        # The agent's own handlers and filters are called here.
        with suppress(Exception):
            _log.warning("%s", message)
