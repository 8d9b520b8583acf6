"""The scripts by which Redis adds past tasks to those that agents find, and removes some.

Each call is one step, and a task that is there already is passed: whoever is killed in between can
begin again. See `trackrecord.prompt.past_task_cache` for the keys.
"""

from typing import Final

# KEYS: records, words, order. ARGV: the bytes of numbers that a term may have; then, for each task,
# its number, its record and its terms.
ADD: Final = """
local records, words, order = KEYS[1], KEYS[2], KEYS[3]
local most = tonumber(ARGV[1])
local added = 0
for i = 2, #ARGV, 3 do
  local number, terms = ARGV[i], ARGV[i + 2]
  if redis.call('HSETNX', records, number, ARGV[i + 1]) == 1 then
    added = added + 1
    redis.call('APPEND', order, number)
    for at = 1, #terms, 4 do
      local term = string.sub(terms, at, at + 3)
      local known = redis.call('HGET', words, term)
      local total, numbers = 0, ''
      if known then
        total, numbers = struct.unpack('<I4', known), string.sub(known, 5)
      end
      if #numbers >= most then
        numbers = string.sub(numbers, #numbers - most + 5)
      end
      redis.call('HSET', words, term, struct.pack('<I4', total + 1) .. numbers .. number)
    end
  end
end
return added
"""

# KEYS: records, words. ARGV: for each task, its number and its terms.
REMOVE: Final = """
local records, words = KEYS[1], KEYS[2]
local removed = 0
for i = 1, #ARGV, 2 do
  local number, terms = ARGV[i], ARGV[i + 1]
  if redis.call('HDEL', records, number) == 1 then
    removed = removed + 1
    for at = 1, #terms, 4 do
      local term = string.sub(terms, at, at + 3)
      local known = redis.call('HGET', words, term)
      if known then
        local total, numbers = struct.unpack('<I4', known) - 1, string.sub(known, 5)
        local found = string.find(numbers, number, 1, true)
        while found and found % 4 ~= 1 do
          found = string.find(numbers, number, found + 1, true)
        end
        if found then
          numbers = string.sub(numbers, 1, found - 1) .. string.sub(numbers, found + 4)
        end
        if total < 1 then
          redis.call('HDEL', words, term)
        else
          redis.call('HSET', words, term, struct.pack('<I4', total) .. numbers)
        end
      end
    end
  end
end
return removed
"""

# KEYS: the lock. ARGV: who holds it.
UNLOCK: Final = """
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
"""
