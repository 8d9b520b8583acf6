"""Writing to the stream of dead letters: its number of entries and its bytes are bounded.

The oldest letters go first, and how many went is counted. An entry of a usual size stays whole, so
that it can be replayed; of a larger one the beginning is kept.
"""

from collections.abc import Mapping
from typing import Any, Final

import redis

from trackrecord.wire.kinds import MARK

from .fleet_counts import LETTERS_DROPPED, TAKEN, RefusedAs, refused_count
from .keys import CONSUMER_GROUP, Keys, split_mark

MOST_LETTERS: Final = 10_000
MOST_BYTES: Final = 64 * 1024 * 1024
# Of an entry that is too large for a letter: so many fields, so much of each.
MOST_FIELDS: Final = 16
KEPT_BYTES: Final = 1024
_LONGEST_NAME: Final = 100
# A secret that the cut goes through is seen whole.
_MARGIN: Final = 4096
# Several times as large as a body may be, unless that is configured: it stays whole.
LARGEST_WHOLE: Final = 4 * 1024 * 1024

REASON: Final = b"reason"
ENTRY_ID: Final = b"entry_id"
CUT: Final = b"cut_from_bytes"
# What is added to the fields of an entry.
ADDED: Final = (REASON, ENTRY_ID, CUT)

# One step: an entry is in the stream or among the letters, never in both or neither. It leaves the
# stream first, for once a script has written, a Redis whose memory is full refuses it nothing; one
# that is not there any more was set aside before, or forgotten.
# What others add or delete is found by the number of letters, and then all of them are weighed.
_SET_ASIDE = """
local dead, size, counters, outcomes = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local count = redis.call('XLEN', dead)
local known, bytes = string.match(redis.call('GET', size) or '', '^(%d+) (%d+)$')
bytes = tonumber(bytes or '0')
local function weigh(letter)
  local sum = 0
  for _, text in ipairs(letter[2]) do sum = sum + #text end
  return sum
end
if tonumber(known or '-1') ~= count then
  bytes = 0
  local start = '-'
  while true do
    local page = redis.call('XRANGE', dead, start, '+', 'COUNT', 100)
    for _, letter in ipairs(page) do bytes = bytes + weigh(letter) end
    if #page < 100 then break end
    start = '(' .. page[#page][1]
  end
end
local is_new = true
if ARGV[1] ~= '' then
  redis.call('XACK', outcomes, ARGV[2], ARGV[1])
  is_new = redis.call('XDEL', outcomes, ARGV[1]) == 1
  if is_new then redis.call('HINCRBY', counters, '@TAKEN', 1) end
end
if #ARGV > 6 and is_new then
  redis.call('XADD', dead, '*', unpack(ARGV, 7))
  count = count + 1
  for i = 7, #ARGV do bytes = bytes + #ARGV[i] end
  if ARGV[3] ~= '' then redis.call('HINCRBY', counters, ARGV[3], 1) end
end
local dropped = 0
while count > tonumber(ARGV[5]) or bytes > tonumber(ARGV[6]) do
  local oldest = redis.call('XRANGE', dead, '-', '+', 'COUNT', 1)[1]
  if not oldest then break end
  redis.call('XDEL', dead, oldest[1])
  count, bytes, dropped = count - 1, bytes - weigh(oldest), dropped + 1
end
if dropped > 0 then redis.call('HINCRBY', counters, ARGV[4], dropped) end
redis.call('SET', size, count .. ' ' .. string.format('%d', bytes))
return dropped
""".replace("@TAKEN", TAKEN)


def letter_of(
    fields: Mapping[bytes, bytes], reason: str, *, entry_id: bytes = b""
) -> dict[bytes, bytes]:
    """Return the dead letter of an entry, its secrets replaced unless its producer did that.

    Args:
        fields: of the entry.
        reason: why it cannot be learnt, in one line.
        entry_id: the id that it had in the stream; b"" if it came from elsewhere.
    """
    letter = {name: value for name, value in fields.items() if name not in ADDED}
    size = sum(len(name) + len(value) for name, value in letter.items())
    is_cut = size > LARGEST_WHOLE or len(letter) > MOST_FIELDS
    if is_cut:
        letter = {
            name: value[: KEPT_BYTES + _MARGIN]
            for name, value in list(letter.items())[:MOST_FIELDS]
        }
    if MARK.encode() not in fields:
        # Slow to import, and nothing that reads letters needs it.
        from trackrecord.wire.redacted_body import redacted_body

        letter = {redacted_body(name): redacted_body(value) for name, value in letter.items()}
    if is_cut:
        letter = {name[:_LONGEST_NAME]: value[:KEPT_BYTES] for name, value in letter.items()}
        letter[CUT] = str(size).encode()
    letter[REASON] = reason.encode()
    if entry_id:
        letter[ENTRY_ID] = entry_id
    return letter


def set_aside(
    client: redis.Redis, keys: Keys, letter: Mapping[bytes, bytes], counted_as: RefusedAs
) -> int:
    """Move an entry from the stream to the dead letters; return how many older ones were dropped.

    Args:
        client: a Redis client.
        keys: of the entry's shard.
        letter: made by `letter_of`, with the id of its entry.
        counted_as: the kind of the reason.

    Raises:
        redis.RedisError: Redis refuses; the entry stays where it was.
    """
    own_id, _ = split_mark(letter.get(ENTRY_ID, b"").decode())
    return _run(client, keys, own_id, refused_count(counted_as), letter)


def drop_excess(client: redis.Redis, keys: Keys) -> int:
    """Drop the oldest dead letters of a shard beyond the bounds; return how many.

    Raises:
        redis.RedisError: Redis cannot be reached.
    """
    return _run(client, keys, "", "", {})


def _run(
    client: redis.Redis, keys: Keys, entry_id: str, counter: str, letter: Mapping[bytes, bytes]
) -> int:
    arguments: list[Any] = [
        entry_id, CONSUMER_GROUP, counter, LETTERS_DROPPED, MOST_LETTERS, MOST_BYTES,
    ]  # fmt: skip
    for name, value in letter.items():
        arguments += [name, value]
    script = client.register_script(_SET_ASIDE)
    return int(
        script(keys=[keys.dead, keys.dead_size, keys.counters, keys.outcomes], args=arguments)
    )
