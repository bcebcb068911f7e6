-- Takes grants back, on the keys of Redisson: what is left of them in the log. A call that is sent twice counts once.
--
-- KEYS[1…7]  as in state/limiter.lua
--
-- ARGV[1]    a number that no earlier call for the same grants had, from 1 to 255
-- ARGV[2…]   for each call of acquire.lua: its 13 bytes, the moment at which it was granted, and how many permits to take back
--
-- Reply: how many permits were taken back.

-- @include "redisson/state/save"

local limiter = openLimiter()
if not limiter then return 0 end
local number = tonumber(ARGV[1])

-- The entries of a call, in the order of their places.
local function entriesOf(call, moment)
  local head, found, first = string.char(16) .. call, {}, 0
  repeat
    local members = redis.call('ZRANGEBYSCORE', limiter.log, moment, moment, 'LIMIT', first, STEP)
    for i = 1, #members do
      if members[i]:sub(1, #head) == head then found[#found + 1] = members[i] end
    end
    first = first + STEP
  until #members < STEP
  return found
end

local function takeBack(call, moment, permits)
  local entries, left = entriesOf(call, moment), permits
  local last = #entries
  if last == 0 or entries[last]:byte(17) == number then return 0 end
  while last > 0 and left >= permitsOf(entries[last]) do
    left = left - permitsOf(entries[last])
    redis.call('ZREM', limiter.log, entries[last])
    last = last - 1
  end
  if last == 0 then return permits - left end
  -- What is left of the call says who has taken of it last.
  local entry = entries[last]
  local rest = struct.pack('>c0B<I4', entry:sub(1, 16), number, permitsOf(entry) - left)
  redis.call('ZREM', limiter.log, entry)
  redis.call('ZADD', limiter.log, moment, rest)
  return permits
end

local taken = 0
for i = 2, #ARGV, 3 do taken = taken + takeBack(ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2])) end
limiter.value = limiter.value + taken
recount(limiter)
lookAgain(limiter)
saveLimiter(limiter, false)
return taken
