"""Outages of the database: wait longer each time, and log them once.

The outcomes stay in the stream meanwhile, which is where they are safe.
"""

import time

import redis
import structlog

from trackrecord.redis_keys import Keys

_log = structlog.get_logger(__name__)

_FIRST_PAUSE_S = 0.5
# The log line is repeated after this long, for readers of the log in a long outage.
_REPEAT_AFTER_S = 600


class DatabaseOutage:
    """The state of the database as one worker process sees it.

    Args:
        client: a patient Redis client; the fleet's workers share one
            flag there, so that an outage is logged once.
        keys: the names of the keys.
        max_pause_s: the longest pause between two tries.
    """

    def __init__(self, client: redis.Redis, keys: Keys, max_pause_s: float) -> None:
        self._client = client
        self._key = keys.database_outage
        self._max_pause_s = max_pause_s
        self._pause_s = 0.0
        self._resume_at = 0.0

    @property
    def is_pausing(self) -> bool:
        """Whether it is too early for another try."""
        return time.monotonic() < self._resume_at

    def begin(self, reason: str) -> None:
        """Note that the database failed, and pause twice as long as the last time."""
        self._pause_s = min(self._max_pause_s, max(_FIRST_PAUSE_S, 2 * self._pause_s))
        self._resume_at = time.monotonic() + self._pause_s
        if self._client.set(self._key, "1", nx=True, ex=_REPEAT_AFTER_S):
            _log.error(
                "database_unavailable",
                reason=reason,
                effect="outcomes wait in the stream; workers keep trying",
            )

    def end(self) -> None:
        """Note that the database works.

        It asks Redis each time: another process may have logged the outage and have ended since, or
        find nothing to do until the next one.
        """
        self._pause_s = self._resume_at = 0.0
        if self._client.delete(self._key):
            _log.info("database_available_again")
