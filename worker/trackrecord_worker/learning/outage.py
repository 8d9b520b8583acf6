"""Outages: of the database, waited for longer each time and logged once; and of Redis.

The outcomes stay in the stream meanwhile, which is where they are safe. Each outage is counted once
for the whole fleet.
"""

import time

import redis
import structlog

from trackrecord.redis.fleet_counts import outage_count
from trackrecord.redis.keys import Keys

_log = structlog.get_logger(__name__)

_FIRST_PAUSE_S = 0.5
# The log line is repeated after this long, for readers of the log in a long outage.
_REPEAT_AFTER_S = 600
# All processes notice the end of an outage of Redis within this time.
_ONE_OUTAGE_S = 10


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
        self._away = keys.database_away
        self._counters = keys.counters
        self._max_pause_s = max_pause_s
        self._pause_s = 0.0
        self._resume_at = 0.0

    @property
    def is_pausing(self) -> bool:
        """Return whether it is too early for another try."""
        return time.monotonic() < self._resume_at

    def begin(self, reason: str) -> None:
        """Note that the database failed, and pause twice as long as the last time."""
        self._pause_s = min(self._max_pause_s, max(_FIRST_PAUSE_S, 2 * self._pause_s))
        self._resume_at = time.monotonic() + self._pause_s
        with self._client.pipeline(transaction=True) as pipe:
            pipe.set(self._key, "1", nx=True, ex=_REPEAT_AFTER_S)
            # Without an end of its own: a long outage is logged again, and still one.
            pipe.set(self._away, "1", nx=True)
            to_be_logged, is_new = pipe.execute()
        if is_new:
            self._client.hincrby(self._counters, outage_count("database"))
        if to_be_logged:
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
        if self._client.delete(self._key, self._away):
            _log.info("database_available_again")


class RedisOutage:
    """The state of Redis as one worker process sees it; it is counted when it is over.

    Args:
        client: a patient Redis client.
        keys: the names of the keys.
    """

    def __init__(self, client: redis.Redis, keys: Keys) -> None:
        self._client = client
        self._keys = keys
        self._is_away = False

    def begin(self) -> None:
        """Note that Redis failed."""
        self._is_away = True

    def end(self) -> None:
        """Note that Redis works; the first process that notices counts the outage.

        Raises:
            redis.RedisError: it fails again; the outage goes on.
        """
        if not self._is_away:
            return
        if self._client.set(self._keys.redis_outage, "1", nx=True, ex=_ONE_OUTAGE_S):
            self._client.hincrby(self._keys.counters, outage_count("redis"))
        self._is_away = False
