-- Releases permits on the keys of Redisson, from the newest entries of the log. A call that is sent twice counts once.
--
-- KEYS[1…7]  as in state/limiter.lua
-- KEYS[8]    the last sequence number of the releases of the limiter object: each one counts its own
--
-- ARGV[1]    permits
-- ARGV[2]    the sequence number
--
-- Reply: an empty list if the limiter has no rate, or else a list: the number of released permits, and 1 if another call
-- may release more.

-- @include "redisson/state/save"

-- The most entries that one call reads.
local MOST_TAKEN = 10000
-- Milliseconds for which a sequence number is remembered: ioredis sends the call again after a reconnect.
local REMEMBERED = 60000

local limiter = openLimiter(COUNTED_AT_LEISURE)
if not limiter then return {} end
local asked, sequence = tonumber(ARGV[1]), tonumber(ARGV[2])
if (tonumber(redis.call('GET', KEYS[8]) or nil) or 0) >= sequence then return { asked, 0 } end

local size = limiter.size - limiter.expired
-- The number of newest entries that are removed, and the entry of which a part stays: the moment, the entry and the rest.
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
-- The rest keeps the moment of its entry, so that the removed entries are the newest before and after.
if part then replaceEntry(limiter, unpack(part)) end
if whole > 0 then redis.call('ZREMRANGEBYRANK', limiter.log, -whole, -1) end
limiter.value = limiter.value + asked - left
lookAgain(limiter)
writeValue(limiter)
endSave(limiter, true)
local more = left > 0 and size > whole
return { asked - left, more and 1 or 0 }
