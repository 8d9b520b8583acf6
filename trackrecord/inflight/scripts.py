"""The scripts that Redis runs in one step; plain Lua for Redis 6.2 and later.

A task is a hash:
    e:<n>       the n-th error: its id, a blank, when Redis received it (ms), a blank, its JSON
    i:<id>      its n; absent when the error is not kept any more
    r:<n>       when it was resolved (ms)
    c:<n>       the outcome that counts it, "-" for that of the attempt that met it; absent as
                long as no outcome does
    n:<type>    how many errors of a type there were, also those that are not kept any more
    first, last the oldest and the newest n that is kept
    ends        the newest ends of attempts, oldest first: F or S, ms, "/", id, a blank each
    w:<id>      when an error was resolved that has not been recorded yet (ms): reports that travel
                on the stream may overtake each other
    waits       how many of these there are
    task        the task's id
    text        the key of what a retry reads, see `retry_record`, once it is written
    version     counts the changes

A project has an index: a sorted set of its tasks' digests by their last news (ms), and a hash of
what each task counts for against the project's bound; "total" is the sum. The index counts by
itself, so it stays right though a task's hash leaves Redis on its own.

A set holds the tasks, as digest, ":" and project, that changed since their text was written.

KEYS: the task, the index, the sizes, the set of changed tasks. Each script returns 1 if it changed
something, else 0.
"""

from typing import Final

_COMMON: Final = """
local task, index, sizes, changed = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local digest, head, tail = ARGV[1], ARGV[2], ARGV[3]
local retention_s, most, task_id = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

local function forget(old)
  local size = tonumber(redis.call('HGET', sizes, old) or '0')
  local text = redis.call('HGET', head .. old .. tail, 'text')
  if text then redis.call('DEL', text) end
  redis.call('SREM', changed, old .. tail)
  redis.call('DEL', head .. old .. tail)
  redis.call('ZREM', index, old)
  redis.call('HDEL', sizes, old)
  return redis.call('HINCRBY', sizes, 'total', 0 - size)
end

local function news()
  local first = tonumber(redis.call('HGET', task, 'first') or '1')
  local last = tonumber(redis.call('HGET', task, 'last') or '0')
  local size = last - first + 2 + tonumber(redis.call('HGET', task, 'waits') or '0')
  local before = tonumber(redis.call('HGET', sizes, digest) or '0')
  redis.call('ZADD', index, now, digest)
  redis.call('HSET', sizes, digest, size)
  local total = redis.call('HINCRBY', sizes, 'total', size - before)
  local over = redis.call('ZRANGEBYSCORE', index, '-inf', '(' .. (now - retention_s * 1000),
                          'LIMIT', 0, 100)
  for _, old in ipairs(over) do total = forget(old) end
  for _, old in ipairs(redis.call('ZRANGE', index, 0, 99)) do
    if total <= most then break end
    if old ~= digest then total = forget(old) end
  end
  redis.call('HSET', task, 'task', task_id)
  redis.call('HINCRBY', task, 'version', 1)
  redis.call('SADD', changed, digest .. tail)
  for _, key in ipairs({task, index, sizes, changed}) do
    redis.call('EXPIRE', key, retention_s)
  end
end
"""

# ARGV 7…: id, type, JSON, errors kept per task, whether an attempt counted it (1 or 0).
RECORD: Final = (
    _COMMON
    + """
local id, kind, body, most_here = ARGV[7], ARGV[8], ARGV[9], tonumber(ARGV[10])
if redis.call('HEXISTS', task, 'i:' .. id) == 1 then return 0 end
local n = redis.call('HINCRBY', task, 'last', 1)
redis.call('HSETNX', task, 'first', 1)
redis.call('HSET', task, 'e:' .. n, id .. ' ' .. now .. ' ' .. body, 'i:' .. id, n)
redis.call('HINCRBY', task, 'n:' .. kind, 1)
if ARGV[11] == '1' then redis.call('HSET', task, 'c:' .. n, '-') end
if redis.call('HDEL', task, 'w:' .. id) == 1 then
  redis.call('HSET', task, 'r:' .. n, now)
  redis.call('HINCRBY', task, 'waits', -1)
end
local first = tonumber(redis.call('HGET', task, 'first'))
while n - first + 1 > most_here do
  local old_id = string.match(redis.call('HGET', task, 'e:' .. first) or '', '^%S+') or ''
  redis.call('HDEL', task, 'e:' .. first, 'r:' .. first, 'c:' .. first, 'i:' .. old_id)
  first = first + 1
end
redis.call('HSET', task, 'first', first)
news()
return 1
"""
)

# KEYS: the task, the set of changed tasks. ARGV: the error's id, the task's entry in that set.
# Returns 0 if the task has no such error; resolving it twice changes nothing.
RESOLVE: Final = """
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local n = redis.call('HGET', KEYS[1], 'i:' .. ARGV[1])
if not n then return 0 end
if redis.call('HSETNX', KEYS[1], 'r:' .. n, now) == 1 then
  redis.call('HINCRBY', KEYS[1], 'version', 1)
  redis.call('SADD', KEYS[2], ARGV[2])
end
return 1
"""

# ARGV 7…: id, how many errors of a task may wait to be recorded. An error that has not been
# recorded yet is resolved when it is. Returns -1 if too many wait.
RESOLVE_FIRST: Final = (
    _COMMON
    + """
local id, most_waits = ARGV[7], tonumber(ARGV[8])
local n = redis.call('HGET', task, 'i:' .. id)
if n then
  if redis.call('HSETNX', task, 'r:' .. n, now) == 0 then return 0 end
elseif redis.call('HEXISTS', task, 'w:' .. id) == 1 then
  return 0
elseif tonumber(redis.call('HGET', task, 'waits') or '0') >= most_waits then
  return -1
else
  redis.call('HSET', task, 'w:' .. id, now)
  redis.call('HINCRBY', task, 'waits', 1)
end
news()
return 1
"""
)

# KEYS: the task. ARGV: id of an outcome, how long ago its attempt began (ms). Returns how many
# # errors received since then the outcome counts because no other one does; repeatable.
ADOPT: Final = """
local clock = redis.call('TIME')
local since = clock[1] * 1000 + math.floor(clock[2] / 1000) - tonumber(ARGV[2])
local first = tonumber(redis.call('HGET', KEYS[1], 'first') or '1')
local last = tonumber(redis.call('HGET', KEYS[1], 'last') or '0')
local count = 0
for n = last, first, -1 do
  local error = redis.call('HGET', KEYS[1], 'e:' .. n) or ''
  if tonumber(string.match(error, '^%S+ (%d+) ') or '0') < since then break end
  local counted_by = redis.call('HGET', KEYS[1], 'c:' .. n)
  if not counted_by then redis.call('HSET', KEYS[1], 'c:' .. n, ARGV[1]) end
  if not counted_by or counted_by == ARGV[1] then count = count + 1 end
end
return count
"""

# ARGV 7…: id of the attempt, "F" or "S", ends kept. A success ends the row of failures and
# resolves the recorded errors; for a task without any news it writes nothing.
END: Final = (
    _COMMON
    + """
local id, how, most_ends = ARGV[7], ARGV[8], tonumber(ARGV[9])
if how == 'S' and redis.call('EXISTS', task) == 0 then return 0 end
local ends = redis.call('HGET', task, 'ends') or ''
if string.find(ends, '/' .. id .. ' ', 1, true) then return 0 end
ends = ends .. how .. now .. '/' .. id .. ' '
local _, count = string.gsub(ends, ' ', ' ')
for _ = 1, count - most_ends do ends = string.gsub(ends, '^%S+ ', '', 1) end
redis.call('HSET', task, 'ends', ends)
if how == 'S' then
  local first = tonumber(redis.call('HGET', task, 'first') or '1')
  local last = tonumber(redis.call('HGET', task, 'last') or '0')
  for n = first, last do redis.call('HSETNX', task, 'r:' .. n, now) end
end
news()
return 1
"""
)

# KEYS: the task, the text of its retry, the set of changed tasks. ARGV: the task's entry in the
# set, the version that the text is of, then the text's fields and values. Returns 0 if the task
# has changed since: whoever finds it in the set writes the text again.
WRITE_TEXT: Final = """
local task, text, changed = KEYS[1], KEYS[2], KEYS[3]
if redis.call('HGET', task, 'version') ~= ARGV[2] then return 0 end
redis.call('DEL', text)
redis.call('HSET', text, unpack(ARGV, 3))
redis.call('PEXPIRE', text, math.max(1, redis.call('PTTL', task)))
redis.call('HSET', task, 'text', text)
redis.call('SREM', changed, ARGV[1])
return 1
"""

# Forgets the task.
FORGET: Final = (
    _COMMON
    + """
local known = redis.call('EXISTS', task)
forget(digest)
return known
"""
)
