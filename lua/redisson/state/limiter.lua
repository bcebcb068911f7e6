-- @include "redisson/state/config"
-- @include "redisson/state/members"
-- @include "redisson/state/seal"
-- @include "redisson/state/mark"
-- @include "redisson/state/count"

-- A limiter of Redisson, opened at the server's time: its config, and its log and `value` as they are at that time. Nothing
-- is written yet: state/save.lua does that, once all has been read that a call needs.
--
-- KEYS[1]  the config: rate, interval, type, keepAliveTime
-- KEYS[2]  value, and
-- KEYS[3]  permits, the log, where all clients share them
-- KEYS[4]  value, and
-- KEYS[5]  permits of this client, where each has its own
-- KEYS[6]  and
-- KEYS[7]  what was known of a log of either kind, as in state/mark.lua; not Redisson's
--
-- `value` is the rate less the permits of all entries in the log, those included that have expired and are still there:
-- it may be negative. What others have made of it is not believed: the log is counted when it is not sealed, a long one
-- unless it was counted just now.

-- So many entries are counted where nobody is in a hurry, just now or not.
local COUNTED_AT_LEISURE = 1000
-- Times that a call takes out more of what has expired: it must not keep the server busy.
local MOST_RELEASES = 10

-- The oldest of the entries that are left, which have expired, are to leave the log.
local function drop(limiter, members)
  limiter.value, limiter.size = limiter.value + sumOf(members), limiter.size - #members
  limiter.dropped = limiter.dropped + #members
end

-- Brings a limiter up to date in whose log very much has expired, of which the oldest entries have been read.
local function catchUp(limiter, oldest, cutoff)
  local expired = redis.call('ZCOUNT', limiter.log, '-inf', cutoff)
  if limiter.size - expired > STEP then
    drop(limiter, oldest)
    limiter.expired = expired - #oldest
    return
  end
  -- A new log of the few that count: the server can drop the old one without stopping for it.
  local live, sum = redis.call('ZRANGE', limiter.log, expired, -1, 'WITHSCORES'), 0
  for i = 1, #live, 2 do sum = sum + permitsOf(live[i]) end
  limiter.live, limiter.dropped = live, expired
  limiter.value, limiter.trusted, limiter.unknown, limiter.size = limiter.rate - sum, true, false, #live / 2
end

-- Whether the log is to be counted: `value` cannot be right, or there is little to count, or it is the log's turn. One that
-- is sealed is counted so seldom that it is half an entry a call.
local function isDoubtful(limiter, always)
  local size, us = limiter.size, limiter.us
  if limiter.unknown or limiter.counted then return true end
  if limiter.trusted then return us % CHECKED == 0 and math.floor(us / CHECKED) % size < CHECKED / 2 end
  return size <= always or limiter.till <= us
end

-- When a key ends, in milliseconds, or -1 where it lasts; nothing before Redis 7, which has no such command.
local function expiryOf(key)
  local expiry = redis.pcall('PEXPIRETIME', key)
  return type(expiry) == 'number' and expiry or nil
end

-- The moment at which the config ends, in milliseconds, or -1 where it lasts.
local function endOf(now)
  local ends = expiryOf(KEYS[1])
  if ends then return math.max(-1, ends) end
  local left = redis.call('PTTL', KEYS[1])
  return left < 0 and left or now + left
end

-- The limiter at the server's time, or nothing where it has no rate. A log of up to `always` entries is counted, just now or
-- not. A `config` that is about to be stored says also by how much it raises the rate, for which nothing is known of the log.
local function openLimiter(always, config)
  config = config or readConfig()
  if not config then return nil end
  local time = redis.call('TIME')
  local us = time[1] * 1000000 + time[2]
  local own, rate, interval = config.own, config.rate, config.interval
  local log, valueKey = own and KEYS[5] or KEYS[3], own and KEYS[4] or KEYS[2]
  local limiter = {
    rate = rate, interval = interval, keepAlive = config.keepAlive, rateText = config.rateText,
    own = own, valueKey = valueKey, log = log, mark = own and KEYS[7] or KEYS[6],
    us = us, now = math.floor(us / 1000), at = math.ceil(us / 1000),
    -- What has expired and is still in the log; the moment of the newest entry.
    value = rate, size = 0, expired = 0, releases = 0, newest = 0, trusted = true, till = 0,
    -- How many of the oldest entries are to leave the log, and which are ahead of the server's time.
    dropped = 0, ahead = {},
  }
  limiter.ends = endOf(limiter.now)
  local cutoff = limiter.now - interval
  local newest = redis.call('ZREVRANGE', log, '0', '0', 'WITHSCORES')
  if not newest[1] then return limiter end
  limiter.newest = tonumber(newest[2])
  if limiter.newest <= cutoff then
    limiter.emptied, limiter.dropped = true, redis.call('ZCARD', log)
    return limiter
  end
  local text, expiry = redis.call('GET', valueKey), expiryOf(valueKey) or -1
  local known = text and string.find(text, '^%-?%d+$') and text + 0
  local sealed = expiry > SEALED and expiry - SEALED
  local raised = sealed and rate - sealed or config.raised or 0
  limiter.size = redis.call('ZCARD', log)
  -- Each entry holds a permit or more.
  local possible = known and known + raised <= rate - limiter.size
  local same, till = false, 0
  if not sealed and not config.raised then same, till = readMark(limiter, known, expiry) end
  limiter.trusted, limiter.till = possible and (sealed or same), till
  -- Where the seal is the one to be: then the log has no expiry either that would have to be taken off.
  limiter.settled = limiter.trusted and sealed == rate and limiter.ends == -1 and limiter.keepAlive == 0 and known
  limiter.value = possible and known + raised or rate - limiter.size
  limiter.counted = countedOf(limiter)
  limiter.unknown = not possible or (limiter.counted and limiter.counted.unknown)
  if limiter.newest > limiter.at then
    -- By a client whose clock is ahead: they count as of now, and from now on.
    limiter.ahead = redis.call('ZRANGEBYSCORE', log, '(' .. limiter.at, '+inf', 'LIMIT', 0, STEP)
    limiter.newest = limiter.at
  end
  local expired = redis.call('ZRANGEBYSCORE', log, '-inf', cutoff, 'LIMIT', '0', '1000')
  if #expired == STEP then
    catchUp(limiter, expired, cutoff)
  elseif expired[1] then
    drop(limiter, expired)
  end
  if isDoubtful(limiter, always or 0) then countLog(limiter) end
  return limiter
end

-- What is free at the most: an entry that has expired and is still in the log holds one permit or more.
local function freeOf(limiter)
  return limiter.unknown and 0 or limiter.value + limiter.expired
end

-- Takes out more of what has expired until so many are free, if there is that much, and time for it.
local function makeFree(limiter, permits)
  if limiter.unknown then return end
  for _ = limiter.releases + 1, MOST_RELEASES do
    if limiter.expired == 0 or freeOf(limiter) >= permits then return end
    local last = limiter.dropped + math.min(STEP, limiter.expired) - 1
    local members = redis.call('ZRANGE', limiter.log, limiter.dropped, last)
    limiter.expired, limiter.releases = limiter.expired - #members, limiter.releases + 1
    drop(limiter, members)
  end
end
