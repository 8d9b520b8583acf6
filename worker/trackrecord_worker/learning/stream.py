"""The stream as a worker sees it: read, acknowledge, set aside, take over.

The stream is the truth. An entry stays pending in Redis until it is acknowledged, so that a worker
that dies loses nothing; an acknowledged entry is removed.

Every worker reads all shards, in turns. An entry that comes from a numbered shard has its number
behind its id: two shards may give two entries the same id.
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import redis
import structlog

from trackrecord.redis.dead_letter_stream import drop_excess, letter_of, set_aside
from trackrecord.redis.fleet_counts import Counts
from trackrecord.redis.keys import CONSUMER_GROUP, Keys, split_mark
from trackrecord.redis.shards import all_shards, is_cluster
from trackrecord.redis.signs_of_life import unique_name
from trackrecord.redis.stream_removal import count_lost, take_out

from .entries import Entry, RefusedEntry

_log = structlog.get_logger(__name__)

# A consumer that has been gone for this long and has nothing pending is deleted.
_FORGET_CONSUMER_AFTER_MS = 3_600_000

# The nodes of a cluster cannot be waited for together: one is, and the others are asked in between.
_TURN_S = 0.1

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


class OutcomeStream:
    """The outcomes' stream, read as one consumer of the group in each shard.

    Args:
        client: a patient Redis client.
        keys: the names of the keys.
    """

    def __init__(self, client: redis.Redis, keys: Keys) -> None:
        self._client = client
        self._keys = keys
        self._shards = keys.shards
        self._has_looked = False
        self._turn = 0
        self._consumer = unique_name()

    def ensure_group(self) -> None:
        """Create the stream and its consumer group when they are missing, in each shard."""
        if not self._has_looked:
            self._look_for_shards()
        for shard in self._shards:
            try:
                self._client.eval(_CREATE_GROUP, 1, shard.outcomes, CONSUMER_GROUP)
            except redis.ResponseError as error:
                if "BUSYGROUP" not in str(error):
                    raise
            else:
                self._count_lost(shard)  # from now on

    def _look_for_shards(self) -> None:
        """Find the shards to read: those of the settings, and what others have written to."""
        self._shards = all_shards(self._client, self._keys)
        self._has_looked = True

    @property
    def _by_number(self) -> dict[int | None, Keys]:
        return {shard.number: shard for shard in self._shards}

    def read_own_pending(self, count: int) -> list[Entry]:
        """Return entries that this consumer has read and not acknowledged, oldest first."""
        share = max(1, count // len(self._shards))
        return [entry for shard in self._shards for entry in self._read((shard,), "0", share, None)]

    def read_new(self, count: int, block_s: float | None) -> list[Entry]:
        """Return unread entries; wait for the first one if asked to."""
        try:
            return self._read_unread(count, block_s)
        except redis.ResponseError as error:
            if "NOGROUP" not in str(error):
                raise
        # Somebody emptied Redis.
        self.ensure_group()
        return self._read_unread(count, block_s)

    def _read_unread(self, count: int, block_s: float | None) -> list[Entry]:
        if len(self._shards) == 1:
            return self._read(self._shards, ">", count, block_s)
        entries = self._read_in_turn(count)
        if entries or not block_s:
            return entries
        if not is_cluster(self._client):
            share = max(1, count // len(self._shards))
            return self._read(self._shards, ">", share, block_s)
        deadline = time.monotonic() + block_s
        while not entries and (left := deadline - time.monotonic()) > 0:
            shard = self._shards[self._turn % len(self._shards)]
            entries = self._read((shard,), ">", count, min(left, _TURN_S))
            entries = entries or self._read_in_turn(count)
        return entries

    def _read_in_turn(self, count: int) -> list[Entry]:
        """Return what is there; the next call begins with the shard after the last one read."""
        entries: list[Entry] = []
        for _ in self._shards:
            shard = self._shards[self._turn % len(self._shards)]
            self._turn += 1
            entries += self._read((shard,), ">", count - len(entries), None)
            if len(entries) >= count:
                break
        return entries

    def _read(
        self, shards: tuple[Keys, ...], start: str, count: int, block_s: float | None
    ) -> list[Entry]:
        block_ms = max(1, int(block_s * 1000)) if block_s else None
        answer: Any = self._client.xreadgroup(
            CONSUMER_GROUP,
            self._consumer,
            {shard.outcomes: start for shard in shards},
            count,
            block_ms,
        )
        if not answer:
            return []
        if len(shards) == 1:
            return _marked(shards[0], answer[0][1])
        by_name = {shard.outcomes.encode(): shard for shard in shards}
        return [entry for name, found in answer for entry in _marked(by_name[name], found)]

    def take_over(self, idle_s: float, count: int) -> Iterator[list[Entry]]:
        """Take over and yield the entries of consumers that have been silent, in batches.

        Redis tells by the clock on the wall how long they have been. After that was set back it
        would not tell until it has caught up: then all that is pending is taken over, once.
        """
        before = self._shards
        self._look_for_shards()
        if self._shards != before:
            self.ensure_group()
        for shard in self._shards:
            self._count_lost(shard)
            yield from self._take_over(shard, idle_s, count)

    def _count_lost(self, shard: Keys) -> None:
        if lost := count_lost(self._client, shard):
            _log.error("entries_lost", count=lost, reason="somebody took them out of the stream")

    def _take_over(self, shard: Keys, idle_s: float, count: int) -> Iterator[list[Entry]]:
        if int(self._client.eval(_SET_BACK_BY, 1, shard.clock)) > _CLOCK_WAVERS_S:
            _log.warning("clock_set_back", effect="all pending entries are learnt again")
            idle_s = 0.0
        cursor: Any = "0-0"
        while True:
            answer: Any = self._client.xautoclaim(
                shard.outcomes,
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
                yield _marked(shard, entries)
            if cursor == b"0-0":
                return

    def acknowledge(self, entry_ids: Iterable[bytes], counts: Counts | None = None) -> None:
        """Acknowledge and remove learnt entries; add to the fleet's counts in the same step."""
        ids = list(entry_ids)
        if not ids and not counts:
            return
        if len(self._shards) == 1 and self._shards[0].number is None:
            take_out(self._client, self._shards[0], ids, counts)
            return
        by_shard: defaultdict[int | None, list[bytes]] = defaultdict(list)
        for each in ids:
            own_id, number = split_mark(each.decode())
            by_shard[number].append(own_id.encode())
        left, shards = counts or {}, self._by_number
        for number, some in (by_shard or {self._shards[0].number: []}).items():
            take_out(self._client, shards[number], some, left)
            left = {}

    def set_aside(self, refused: Iterable[RefusedEntry]) -> None:
        """Move entries to the dead letters, with the reason."""
        dropped = 0
        for each in refused:
            letter = letter_of(each.fields, each.reason, entry_id=each.entry_id)
            _, number = split_mark(each.entry_id.decode())
            dropped += set_aside(self._client, self._by_number[number], letter, each.counted_as)
        _log_dropped(dropped)

    def drop_excess_letters(self) -> None:
        """Drop the oldest dead letters, if there are too many."""
        _log_dropped(sum(drop_excess(self._client, shard) for shard in self._shards))

    def length(self) -> int:
        """Return the number of entries that are waiting or pending."""
        return sum(int(self._client.xlen(shard.outcomes)) for shard in self._shards)

    def forget_gone_consumers(self) -> int:
        """Delete consumers that have long been silent and have nothing pending; return how many."""
        script = self._client.register_script(_FORGET_CONSUMERS)
        arguments: list[Any] = [CONSUMER_GROUP, _FORGET_CONSUMER_AFTER_MS]
        return sum(int(script(keys=[each.outcomes], args=arguments)) for each in self._shards)


def _marked(shard: Keys, entries: list[Entry]) -> list[Entry]:
    """Return the entries of a shard with ids that no other shard's entries have."""
    if shard.number is None:
        return entries
    return [(shard.mark(own_id.decode()).encode(), fields) for own_id, fields in entries]


def _log_dropped(count: int) -> None:
    if count:
        _log.warning("dead_letters_dropped", count=count, reason="the oldest of too many")
