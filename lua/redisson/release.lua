-- Gives permits back, on the keys of Redisson, out of the newest entries of the log. A call that is sent twice counts once.
--
-- KEYS[1…7]  as in state/limiter.lua
-- KEYS[8]    the last sequence of releases of the line
--
-- ARGV[1]    permits
-- ARGV[2]    the sequence
--
-- Reply: an empty list where the limiter has no rate. Else a list: how many permits were given back, and 1 where there is
-- more to be done for the others.

-- @include "redisson/state/save"

-- Entries of which a call takes at most.
local MOST_TAKEN = 10000
-- Milliseconds that a sequence is remembered for: it may be sent again when Redis can be reached again.
local REMEMBERED = 60000

local limiter = openLimiter(COUNTED_AT_LEISURE)
if not limiter then return {} end
local asked, sequence = tonumber(ARGV[1]), tonumber(ARGV[2])
if tonumber(redis.call('GET', KEYS[8]) or 0) >= sequence then return { asked, 0 } end
redis.call('SET', KEYS[8], sequence, 'PX', REMEMBERED)

local size = limiter.size - limiter.expired

-- Takes all of so many of the newest entries, and part of the one before them.
local function takeNewest(whole, part, entry, moment)
  if whole > 0 then redis.call('ZREMRANGEBYRANK', limiter.log, -whole, -1) end
  size = size - whole
  if part == 0 then return end
  redis.call('ZREM', limiter.log, entry)
  redis.call('ZADD', limiter.log, moment, struct.pack('<c0I4', entry:sub(1, -5), permitsOf(entry) - part))
end

local left, taken = asked, 0
while left > 0 and taken < MOST_TAKEN and size > 0 do
  local entries = redis.call('ZREVRANGE', limiter.log, 0, math.min(STEP, size) - 1, 'WITHSCORES')
  local whole, part, i = 0, 0, 1
  while entries[i] and left >= permitsOf(entries[i]) do
    left, whole, i = left - permitsOf(entries[i]), whole + 1, i + 2
  end
  if entries[i] then part, left = left, 0 end
  takeNewest(whole, part, entries[i], entries[i + 1])
  taken = taken + whole
end

limiter.value = limiter.value + asked - left
lookAgain(limiter)
saveLimiter(limiter, true)
local more = left > 0 and size > 0
return { asked - left, more and 1 or 0 }
