"""The stream as a worker sees it: read, acknowledge, set aside, take over.

The stream is the truth. An entry stays pending in Redis until it is acknowledged, so that a worker
that dies loses nothing; an acknowledged entry is removed.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import redis
import structlog

from trackrecord.redis.consumers import own_name
from trackrecord.redis.dead_letter_stream import drop_excess, letter_of, set_aside
from trackrecord.redis.fleet_counts import Counts
from trackrecord.redis.keys import CONSUMER_GROUP, Keys

from .entries import Entry, RefusedEntry

_log = structlog.get_logger(__name__)

# A consumer that has been gone for this long and has nothing pending is deleted.
_FORGET_CONSUMER_AFTER_MS = 3_600_000

# Checking and deleting must be one step: a consumer deleted while it reads loses its pending list.
_FORGET_CONSUMERS = """
local gone = 0
for _, info in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
  local consumer = {}
  for i = 1, #info, 2 do consumer[info[i]] = info[i + 1] end
  if consumer['pending'] == 0 and consumer['idle'] > tonumber(ARGV[2]) then
    redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], consumer['name'])
    gone = gone + 1
  end
end
return gone
"""


# Once a script has written, if only in vain, a Redis whose memory is full refuses it nothing; and
# entries are only learnt, which makes room, by a group.
_CREATE_GROUP = """
redis.call('XDEL', KEYS[1], '0-1')
return redis.call('XGROUP', 'CREATE', KEYS[1], ARGV[1], '0', 'MKSTREAM')
"""


# Smaller corrections are made all the time.
_CLOCK_WAVERS_S = 5
# Nothing is known to a user who may not ask for the time, and nothing noted while memory is full.
_SET_BACK_BY = """
local now = redis.pcall('TIME')
if now.err then return 0 end
local before = tonumber(redis.call('GET', KEYS[1]) or '0')
redis.pcall('SET', KEYS[1], now[1])
return before - tonumber(now[1])
"""
# A script and no transaction: a Redis whose memory is full does not even queue commands.
_ACKNOWLEDGE = """
local last = 2 + tonumber(ARGV[2])
for first = 3, last, 1000 do
  local until_ = math.min(first + 999, last)
  redis.call('XACK', KEYS[1], ARGV[1], unpack(ARGV, first, until_))
  redis.call('XDEL', KEYS[1], unpack(ARGV, first, until_))
end
for i = last + 1, #ARGV, 2 do redis.call('HINCRBY', KEYS[2], ARGV[i], ARGV[i + 1]) end
"""


class OutcomeStream:
    """The outcomes' stream, read as one consumer of the group.

    Args:
        client: a patient Redis client.
        keys: the names of the keys.
    """

    def __init__(self, client: redis.Redis, keys: Keys) -> None:
        self._client = client
        self._keys = keys
        self._consumer = own_name()
        self._acknowledge = client.register_script(_ACKNOWLEDGE)

    def ensure_group(self) -> None:
        """Create the stream and its consumer group when they are missing."""
        try:
            self._client.eval(_CREATE_GROUP, 1, self._keys.outcomes, CONSUMER_GROUP)
        except redis.ResponseError as error:
            if "BUSYGROUP" not in str(error):
                raise

    def read_own_pending(self, count: int) -> list[Entry]:
        """Return entries that this consumer has read and not acknowledged, oldest first."""
        return self._read("0", count, None)

    def read_new(self, count: int, block_s: float | None) -> list[Entry]:
        """Return unread entries; wait for the first one if asked to."""
        return self._read(">", count, max(1, int(block_s * 1000)) if block_s else None)

    def _read(self, start: str, count: int, block_ms: int | None) -> list[Entry]:
        answer: Any = self._client.xreadgroup(
            CONSUMER_GROUP, self._consumer, {self._keys.outcomes: start}, count, block_ms
        )
        return answer[0][1] if answer else []

    def take_over(self, idle_s: float, count: int) -> Iterator[list[Entry]]:
        """Take over and yield the entries of consumers that have been silent, in batches.

        Redis tells by the clock on the wall how long they have been. After that was set back it
        would not tell until it has caught up: then all that is pending is taken over, once.
        """
        if self._clock_was_set_back():
            _log.warning("clock_set_back", effect="all pending entries are learnt again")
            idle_s = 0.0
        cursor: Any = "0-0"
        while True:
            answer: Any = self._client.xautoclaim(
                self._keys.outcomes,
                CONSUMER_GROUP,
                self._consumer,
                min_idle_time=int(idle_s * 1000),
                start_id=cursor,
                count=count,
            )
            cursor = answer[0]
            # Redis 6.2 returns nothing at all for an entry that was deleted by hand.
            entries = [entry for entry in answer[1] if entry[0] is not None]
            if entries:
                yield entries
            if cursor == b"0-0":
                return

    def _clock_was_set_back(self) -> bool:
        back_s = int(self._client.eval(_SET_BACK_BY, 1, self._keys.clock))
        return back_s > _CLOCK_WAVERS_S

    def acknowledge(self, entry_ids: Iterable[bytes], counts: Counts | None = None) -> None:
        """Acknowledge and remove learnt entries; add to the fleet's counts in the same step."""
        ids = list(entry_ids)
        if not ids and not counts:
            return
        arguments: list[Any] = [CONSUMER_GROUP, len(ids), *ids]
        for name, number in (counts or {}).items():
            arguments += [name, number]
        self._acknowledge(keys=[self._keys.outcomes, self._keys.counters], args=arguments)

    def set_aside(self, refused: Iterable[RefusedEntry]) -> None:
        """Move entries to the dead letters, with the reason."""
        dropped = 0
        for each in refused:
            letter = letter_of(each.fields, each.reason, entry_id=each.entry_id)
            dropped += set_aside(self._client, self._keys, letter, each.counted_as)
        _log_dropped(dropped)

    def drop_excess_letters(self) -> None:
        """Drop the oldest dead letters, if there are too many."""
        _log_dropped(drop_excess(self._client, self._keys))

    def length(self) -> int:
        """Return the number of entries that are waiting or pending."""
        return int(self._client.xlen(self._keys.outcomes))

    def forget_gone_consumers(self) -> int:
        """Delete consumers that have long been silent and have nothing pending; return how many."""
        script = self._client.register_script(_FORGET_CONSUMERS)
        arguments: list[Any] = [CONSUMER_GROUP, _FORGET_CONSUMER_AFTER_MS]
        return int(script(keys=[self._keys.outcomes], args=arguments))


def _log_dropped(count: int) -> None:
    if count:
        _log.warning("dead_letters_dropped", count=count, reason="the oldest of too many")
