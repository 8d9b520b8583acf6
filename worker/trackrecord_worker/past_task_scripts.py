"""The scripts by which Redis changes which past tasks have which words, in one step for each word.

What is there already is passed, so that whoever is killed in between can begin again. See
`trackrecord.prompt.past_task_cache` for the keys. Redis writes what it has changed to its log, a
word with all its numbers: so a word is changed once for many past tasks.
"""

from typing import Final

# KEYS: the words. ARGV: the bytes of numbers that a term may have; then, for each term, the term
# and the numbers of past tasks that have it, ascending.
ADD: Final = """
local words, most = KEYS[1], tonumber(ARGV[1])

local function number_at(numbers, at)
  return (struct.unpack('<I4', string.sub(numbers, at, at + 3)))
end

local function with(numbers, field)
  local number, at = struct.unpack('<I4', field), 1
  while at < #numbers and number_at(numbers, at) < number do at = at + 4 end
  if at < #numbers and number_at(numbers, at) == number then return numbers end
  return string.sub(numbers, 1, at - 1) .. field .. string.sub(numbers, at)
end

for i = 2, #ARGV, 2 do
  local term, given = ARGV[i], ARGV[i + 1]
  local known = redis.call('HGET', words, term)
  local total, numbers, last = 0, '', -1
  if known then
    total, numbers = struct.unpack('<I4', known), string.sub(known, 5)
    if #numbers > 0 then last = number_at(numbers, #numbers - 3) end
  end
  local before = #numbers
  if number_at(given, 1) > last then
    numbers = numbers .. given
  else
    for at = 1, #given, 4 do numbers = with(numbers, string.sub(given, at, at + 3)) end
  end
  if #numbers > before then
    total = total + (#numbers - before) / 4
    if #numbers > most then numbers = string.sub(numbers, #numbers - most + 1) end
    redis.call('HSET', words, term, struct.pack('<I4', total) .. numbers)
  end
end
return redis.status_reply('OK')
"""

# KEYS: the words. ARGV: for each term, the term and the numbers of past tasks that no longer have
# it.
REMOVE: Final = """
local words = KEYS[1]

local function without(numbers, field)
  local found = string.find(numbers, field, 1, true)
  while found and found % 4 ~= 1 do found = string.find(numbers, field, found + 1, true) end
  if not found then return numbers end
  return string.sub(numbers, 1, found - 1) .. string.sub(numbers, found + 4)
end

for i = 1, #ARGV, 2 do
  local term, given = ARGV[i], ARGV[i + 1]
  local known = redis.call('HGET', words, term)
  if known then
    local total, numbers = struct.unpack('<I4', known) - #given / 4, string.sub(known, 5)
    for at = 1, #given, 4 do numbers = without(numbers, string.sub(given, at, at + 3)) end
    if total < 1 then
      redis.call('HDEL', words, term)
    else
      redis.call('HSET', words, term, struct.pack('<I4', total) .. numbers)
    end
  end
end
return redis.status_reply('OK')
"""
