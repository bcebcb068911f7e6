-- Grants the free permits of a limiter on the keys of Redisson to requests, in their order.
--
-- KEYS[1…7]  as in state/limiter.lua
--
-- ARGV[1]    the entry of the first request. 13 of its bytes identify the call: no other call has the same.
-- ARGV[2…]   runs: the permits of a request, the number of requests, and the longest wait in microseconds or -1 for any. For
--            a single request, the permits alone: it waits as long as necessary.
--
-- Reply: an empty list if the limiter has no rate. From the fast path, to a single request: the server's time in microseconds
-- if it is granted, or else a list of that time and the wait in microseconds. Otherwise a list: the time, the rate, the
-- interval in milliseconds, the permits that are free now, the time until all permits are free in microseconds, and the wait
-- of the first queued request in microseconds; then pairs of a count and 0 (granted), LEFT (queued), NEVER (exceeds the rate),
-- or -2 - the wait in microseconds (refused, as the wait would be too long).

-- @include "redisson/state/quick"
-- @include "redisson/state/save"
-- @include "redisson/state/wait"

local LEFT, NEVER = -1, -2
-- The permits of an entry are stored in four bytes.
local MOST_IN_ENTRY = 4294967295
-- Entries in one ZADD.
local WRITTEN = 500

local limiter = openLimiter()
if not limiter then return {} end

local call = ARGV[1]:sub(2, 14)
local reply = { limiter.us, limiter.rate, limiter.interval, 0, 0, 0 }
local place, used, wait = 0, false, 0
-- Runs of granted requests: the place of the first, their number, and the permits of each; and the sum of their permits.
local grants, granted = {}, 0

local function answer(count, delay)
  if count == 0 then return end
  reply[#reply + 1], reply[#reply + 2] = count, delay
  place = place + count
end

-- Grants as many of the next requests as there are permits for. Returns their number.
local function grant(count, permits)
  if limiter.expired > 0 then makeFree(limiter, count * permits) end
  local fit = math.max(0, math.min(count, math.floor(freeOf(limiter) / permits)))
  if fit == 0 then return 0 end
  grants[#grants + 1] = { place, fit, permits }
  granted = granted + fit * permits
  limiter.value, limiter.size, limiter.newest, used = limiter.value - fit * permits, limiter.size + fit, limiter.at, true
  answer(fit, 0)
  return fit
end

-- Microseconds that the next request has to wait; 0 if it turns out that its permits are free.
local function waitOf(permits)
  -- Expired entries that have not been read may hold enough permits, or a count that is not finished may find them free. The
  -- next call finds out.
  if limiter.unknown or limiter.expired > 0 then return 1 end
  return waitFor(limiter, permits, granted)
end

for i = 2, #ARGV, 3 do
  local permits, count, maxWait = tonumber(ARGV[i]), tonumber(ARGV[i + 1] or 1), tonumber(ARGV[i + 2] or -1)
  if permits > limiter.rate or permits > MOST_IN_ENTRY then
    answer(count, NEVER)
  else
    -- A request never overtakes a queued one.
    local needed = wait
    if wait == 0 then
      count = count - grant(count, permits)
      needed = count > 0 and waitOf(permits) or 0
      if count > 0 and needed == 0 then
        count = count - grant(count, permits)
        needed = count > 0 and math.max(1, waitOf(permits)) or 0
      end
    end
    if maxWait >= 0 and needed > maxWait then
      answer(count, NEVER - needed)
    elseif count > 0 then
      answer(count, LEFT)
      wait, used = needed, true
    end
  end
end

-- Writes the entries of `count` requests. Returns how many are new, and an error if there is one. A call that is sent again
-- finds its entries there.
local function writeEntries(first, count, permits)
  local added = 0
  for from = first, first + count - 1, WRITTEN do
    local entries = {}
    for i = from, math.min(from + WRITTEN, first + count) - 1 do
      entries[#entries + 1] = limiter.at
      entries[#entries + 1] = struct.pack('>Bc0I2B<I4', 16, call, i, 0, permits)
    end
    local written = redis.pcall('ZADD', limiter.log, unpack(entries))
    if type(written) == 'table' then return added, written end
    added = added + written
  end
  return added
end

beginSave(limiter)
writeValue(limiter)
-- `value` is already lower by all of them.
local missing, failure = granted, nil
for i = 1, #grants do
  local first, count, permits = unpack(grants[i])
  local added
  added, failure = writeEntries(first, count, permits)
  missing = missing - added * permits
  if failure then break end
end
if missing > 0 then
  redis.call('INCRBY', limiter.valueKey, missing)
  limiter.value = limiter.value + missing
end
if failure then return failure end
endSave(limiter, used)

reply[4], reply[6] = math.max(0, freeOf(limiter)), wait
if limiter.size > 0 then reply[5] = math.max(0, (limiter.newest + limiter.interval) * 1000 - limiter.us) end
return reply
