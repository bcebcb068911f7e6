-- Grants permits on the keys of Redisson, to requests in their order, as far as they are free.
--
-- KEYS[1…7]  as in state/limiter.lua
--
-- ARGV[1]    the entry of the first request. Of its bytes, 13 say which call it is, like no other call of any line.
-- ARGV[2…]   runs: each is permits, a count of requests, and the longest wait in microseconds or -1 for any. Of a single
--            request it may be the permits alone: it waits as long as it takes.
--
-- Reply: an empty list where the limiter has no rate. To a single request it may be the time of the server in microseconds
-- where it is granted, and else a list of that and of how long it has to wait in microseconds. Or a list: the time, the
-- rate, the interval in milliseconds, the permits that are free now, the time until all has come back in microseconds, and
-- how long the first that was left has to wait in microseconds; then pairs of a count and 0, or LEFT, or NEVER, or, where
-- the wait would be too long, -2 - the wait in microseconds.

-- @include "redisson/state/quick"
-- @include "redisson/state/save"
-- @include "redisson/state/wait"

local LEFT, NEVER = -1, -2
-- The permits of an entry have four bytes.
local MOST_IN_ENTRY = 4294967295
-- Entries that are written at a time.
local WRITTEN = 500

local limiter = openLimiter()
if not limiter then return {} end

local call = ARGV[1]:sub(2, 14)
local reply = { limiter.us, limiter.rate, limiter.interval, 0, 0, 0 }
local place, used, wait = 0, false, 0

-- Writes an entry for each of the next requests.
local function grant(count, permits)
  local added = 0
  for first = 0, count - 1, WRITTEN do
    local entries = {}
    for i = first, math.min(first + WRITTEN, count) - 1 do
      entries[#entries + 1] = limiter.at
      entries[#entries + 1] = struct.pack('>Bc0I2B<I4', 16, call, place + i, 0, permits)
    end
    added = added + redis.call('ZADD', limiter.log, unpack(entries))
  end
  -- A call that is sent again finds its entries there.
  limiter.value, limiter.size = limiter.value - added * permits, limiter.size + added
  limiter.newest, used = limiter.at, true
  forgetWalk()
end

for i = 2, #ARGV, 3 do
  local permits, count, maxWait = tonumber(ARGV[i]), tonumber(ARGV[i + 1] or 1), tonumber(ARGV[i + 2] or -1)
  while count > 0 do
    local answered, delay, needed = count, NEVER, wait
    if permits <= limiter.rate and permits <= MOST_IN_ENTRY then
      local granted = 0
      -- Nobody passes those who are left in the line.
      if wait == 0 then
        if limiter.expired > 0 then makeFree(limiter, count * permits) end
        granted = math.min(count, math.floor(freeOf(limiter) / permits))
      end
      if granted > 0 then
        grant(granted, permits)
        answered, delay = granted, 0
      else
        -- What has expired and has not been looked at may be enough, or what is not counted yet may not be in use: that is
        -- known with the next call.
        if wait == 0 then needed = (limiter.unknown or limiter.expired > 0) and 1 or waitFor(limiter, permits) end
        if needed == 0 then
          answered = 0
        elseif maxWait >= 0 and needed > maxWait then
          delay = NEVER - needed
        else
          wait, used, delay = needed, true, LEFT
        end
      end
    end
    if answered > 0 then
      reply[#reply + 1], reply[#reply + 2] = answered, delay
    end
    place, count = place + answered, count - answered
  end
end

saveLimiter(limiter, used)
reply[4], reply[6] = math.max(0, freeOf(limiter)), wait
if limiter.size > 0 then reply[5] = math.max(0, (limiter.newest + limiter.interval) * 1000 - limiter.us) end
return reply
