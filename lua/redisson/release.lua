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
if (tonumber(redis.call('GET', KEYS[8]) or nil) or 0) >= sequence then return { asked, 0 } end

local size = limiter.size - limiter.expired
-- How many of the newest entries are taken as a whole, and the one of which a part is: its moment, itself and the rest.
local left, whole, part = asked, 0, nil
for first = 0, math.min(size, MOST_TAKEN) - 1, STEP do
  if left == 0 or part then break end
  local entries = redis.call('ZREVRANGE', limiter.log, first, math.min(first + STEP, size) - 1, 'WITHSCORES')
  for i = 1, #entries, 2 do
    local entry, held = entries[i], permitsOf(entries[i])
    if left < held then
      if left > 0 then part = { entries[i + 1], entry, struct.pack('<c0I4', entry:sub(1, -5), held - left) } end
      left = 0
      break
    end
    left, whole = left - held, whole + 1
  end
end

redis.call('SET', KEYS[8], sequence, 'PX', REMEMBERED)
beginSave(limiter)
-- The rest of an entry lies where that was: the others are the newest before and after.
if part then replaceEntry(limiter, unpack(part)) end
if whole > 0 then redis.call('ZREMRANGEBYRANK', limiter.log, -whole, -1) end
limiter.value = limiter.value + asked - left
lookAgain(limiter)
writeValue(limiter)
endSave(limiter, true)
local more = left > 0 and size > whole
return { asked - left, more and 1 or 0 }
