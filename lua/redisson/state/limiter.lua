-- @include "redisson/state/members"
-- @include "redisson/state/seal"
-- @include "redisson/state/mark"
-- @include "redisson/state/count"

-- A limiter of Redisson, opened at the server's time: its config, and its log and `value` brought up to that time.
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
-- Beyond this numbers are not exact; the rates of those who want none are.
local MOST = 9007199254740992

-- Brings a limiter up to date in whose log very much has expired, of which the oldest entries have been read.
local function catchUp(limiter, oldest, cutoff)
  local expired = redis.call('ZCOUNT', limiter.log, '-inf', cutoff)
  if limiter.size - expired > STEP then
    redis.call('ZREMRANGEBYRANK', limiter.log, 0, #oldest - 1)
    limiter.value, limiter.size = limiter.value + sumOf(oldest), limiter.size - #oldest
    limiter.expired = expired - #oldest
    return
  end
  -- A new log of the few that count: the server can drop the old one without stopping for it.
  local live, sum = redis.call('ZRANGE', limiter.log, expired, -1, 'WITHSCORES'), 0
  redis.call('UNLINK', limiter.log)
  for i = 1, #live, 2 do
    redis.call('ZADD', limiter.log, live[i + 1], live[i])
    sum = sum + permitsOf(live[i])
  end
  limiter.value, limiter.trusted, limiter.unknown, limiter.size = limiter.rate - sum, true, false, #live / 2
end

-- Entries ahead of the server's time, by a client whose clock is: they count as of now, and from now on.
local function bringBack(limiter)
  local ahead = redis.call('ZRANGEBYSCORE', limiter.log, '(' .. limiter.at, '+inf', 'LIMIT', 0, STEP)
  for i = 1, #ahead do redis.call('ZADD', limiter.log, limiter.at, ahead[i]) end
  limiter.newest = limiter.at
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
  if ends then return ends end
  local left = redis.call('PTTL', KEYS[1])
  return left < 0 and left or now + left
end

-- Looks at what is left in the log after entries have been taken out of it.
local function lookAgain(limiter)
  local newest = redis.call('ZREVRANGE', limiter.log, '0', '0', 'WITHSCORES')
  limiter.size, limiter.newest = redis.call('ZCARD', limiter.log), tonumber(newest[2] or 0)
end

-- The limiter at the server's time, or nothing where it has no rate. A log of up to `always` entries is counted, just now or
-- not. `change` is by how much the rate has just been raised.
local function openLimiter(always, change)
  local config = redis.call('HMGET', KEYS[1], 'rate', 'interval', 'type', 'keepAliveTime')
  if not (config[1] and config[2] and config[3]) then return nil end
  local time = redis.call('TIME')
  local us = time[1] * 1000000 + time[2]
  local own = config[3] == '1'
  local log, valueKey = own and KEYS[5] or KEYS[3], own and KEYS[4] or KEYS[2]
  local rate, interval = math.min(config[1], MOST), math.min(config[2], MOST)
  local limiter = {
    rate = rate, interval = interval, keepAlive = tonumber(config[4] or 0), rateText = config[1],
    own = own, valueKey = valueKey, log = log, mark = own and KEYS[7] or KEYS[6],
    us = us, now = math.floor(us / 1000), at = math.ceil(us / 1000),
    -- What has expired and is still in the log; the moment of the newest entry.
    value = rate, size = 0, expired = 0, releases = 0, newest = 0, trusted = true, till = 0,
  }
  limiter.ends = endOf(limiter.now)
  local cutoff = limiter.now - interval
  local newest = redis.call('ZREVRANGE', log, '0', '0', 'WITHSCORES')
  if not newest[1] then return limiter end
  limiter.newest = tonumber(newest[2])
  if limiter.newest <= cutoff then
    redis.call('UNLINK', log)
    return limiter
  end
  local known, expiry = tonumber(redis.call('GET', valueKey) or nil), expiryOf(valueKey) or -1
  local sealed = expiry > SEALED and expiry - SEALED
  local raised = sealed and rate - sealed or change or 0
  limiter.size = redis.call('ZCARD', log)
  -- Each entry holds a permit or more.
  local possible = known and known == math.floor(known) and known + raised <= rate - limiter.size
  local same, till = false, 0
  if not sealed then same, till = readMark(limiter, known, expiry) end
  limiter.trusted, limiter.till = possible and (sealed or same), till
  -- Where the seal is the one to be: then the log has no expiry either that would have to be taken off.
  limiter.settled = limiter.trusted and sealed == rate and limiter.ends == -1 and limiter.keepAlive == 0 and known
  limiter.value = possible and known + raised or rate - limiter.size
  limiter.counted = countedOf(limiter)
  limiter.unknown = not possible or (limiter.counted and limiter.counted.unknown)
  if limiter.newest > limiter.at then bringBack(limiter) end
  local expired = redis.call('ZRANGEBYSCORE', log, '-inf', cutoff, 'LIMIT', '0', '1000')
  if #expired == STEP then
    catchUp(limiter, expired, cutoff)
  elseif expired[1] then
    redis.call('ZREMRANGEBYRANK', log, '0', #expired - 1)
    limiter.value, limiter.size = limiter.value + sumOf(expired), limiter.size - #expired
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
  while limiter.expired > 0 and freeOf(limiter) < permits and limiter.releases < MOST_RELEASES do
    local members = redis.call('ZRANGE', limiter.log, 0, math.min(STEP, limiter.expired) - 1)
    redis.call('ZREMRANGEBYRANK', limiter.log, 0, #members - 1)
    limiter.value, limiter.size = limiter.value + sumOf(members), limiter.size - #members
    limiter.expired, limiter.releases = limiter.expired - #members, limiter.releases + 1
  end
end
