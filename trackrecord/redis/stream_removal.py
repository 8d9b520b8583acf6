"""Taking entries out of the stream, and noticing what others took out or blocked.

Whoever may add to the stream may also trim it, or give an entry an id of the far future, after
which no worker would be given what comes. What workers take out is counted, so that the rest of
what is gone was lost.
"""

from collections.abc import Sequence
from typing import Any, Final

import redis

from .fleet_counts import LOST, TAKEN, Counts
from .keys import CONSUMER_GROUP, Keys

# Of what is gone and was not taken, as much as is counted.
_SEEN: Final = "gone"
# A clock may be wrong by hours.
_FAR_AHEAD_S: Final = 86_400

# A script and no transaction: a Redis whose memory is full does not even queue commands.
_TAKE_OUT: Final = """
local last, taken = 3 + tonumber(ARGV[3]), 0
for first = 4, last, 1000 do
  local until_ = math.min(first + 999, last)
  redis.call('XACK', KEYS[1], ARGV[1], unpack(ARGV, first, until_))
  taken = taken + redis.call('XDEL', KEYS[1], unpack(ARGV, first, until_))
end
if taken > 0 then redis.call('HINCRBY', KEYS[2], ARGV[2], taken) end
for i = last + 1, #ARGV, 2 do redis.call('HINCRBY', KEYS[2], ARGV[i], ARGV[i + 1]) end
"""

# Servers before 7.0 do not say how many entries were ever added.
_CHECK: Final = """
local info = redis.pcall('XINFO', 'STREAM', KEYS[1])
if info.err then return 0 end
local stream, lost = {}, 0
for i = 1, #info, 2 do stream[info[i]] = info[i + 1] end
local added, length = stream['entries-added'], stream['length']
if added then
  local seen = tonumber(redis.call('HGET', KEYS[2], ARGV[4]) or '')
  local gone = added - length - tonumber(redis.call('HGET', KEYS[2], ARGV[2]) or '0')
  -- Refused while memory is full, and then counted by a later call.
  if seen ~= gone and type(redis.pcall('HSET', KEYS[2], ARGV[4], gone)) == 'number' and seen then
    lost = math.max(0, gone - seen)
  end
  if lost > 0 then redis.call('HINCRBY', KEYS[2], ARGV[3], lost) end
end
local time, last = redis.pcall('TIME'), tonumber(string.match(stream['last-generated-id'], '^%d+'))
if not time.err and length == 0 and last > (time[1] + ARGV[5]) * 1000 then
  -- The last id of a stream is never set back beyond an entry that it had.
  redis.call('DEL', KEYS[1])
  redis.call('XGROUP', 'CREATE', KEYS[1], ARGV[1], '0', 'MKSTREAM')
  local id = time[1] .. '000-0'
  if added then
    redis.call('XSETID', KEYS[1], id, 'ENTRIESADDED', added, 'MAXDELETEDID', '0-0')
  else
    redis.call('XSETID', KEYS[1], id)
  end
end
return lost
"""


def take_out(
    client: redis.Redis, keys: Keys, ids: Sequence[bytes], counts: Counts | None = None
) -> None:
    """Acknowledge and delete entries of a shard; add to the fleet's counts in the same step.

    Raises:
        redis.RedisError: Redis refuses.
    """
    arguments: list[Any] = [CONSUMER_GROUP, TAKEN, len(ids), *ids]
    for name, number in (counts or {}).items():
        arguments += [name, number]
    script = client.register_script(_TAKE_OUT)
    script(keys=[keys.outcomes, keys.counters], args=arguments)


def count_lost(client: redis.Redis, keys: Keys) -> int:
    """Count the entries of a shard that others took out since the last call; return how many.

    If the last id is one of the far future, the empty stream goes on with those of today.

    Raises:
        redis.RedisError: Redis cannot be reached.
    """
    arguments: list[Any] = [CONSUMER_GROUP, TAKEN, LOST, _SEEN, _FAR_AHEAD_S]
    script = client.register_script(_CHECK)
    return int(script(keys=[keys.outcomes, keys.counters], args=arguments))
