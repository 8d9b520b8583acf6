"""Log problems for the person who runs the agent, without flooding the agent's log."""

import logging
import threading
import time
from contextlib import suppress

_log = logging.getLogger("trackrecord")
_PAUSE_S = 60.0


class Notices:
    """Log lines of which each kind comes once, and again only after a pause."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._quiet_until: dict[str, float] = {}

    def say(self, kind: str, message: str) -> None:
        """Log a warning, unless its kind was logged a moment ago; never raises."""
        now = time.monotonic()
        with self._lock:
            if now < self._quiet_until.get(kind, 0.0):
                return
            self._quiet_until[kind] = now + _PAUSE_S
        # The agent's own handlers and filters are called here.
        with suppress(Exception):
            _log.warning("%s", message)
