-- @include "redisson/state/config"
-- @include "redisson/state/members"
-- @include "redisson/state/seal"
-- @include "redisson/state/mark"
-- @include "redisson/state/count"

-- A limiter of Redisson at the server's time: its config, its log and its `value`. Nothing is written here: state/save.lua
-- writes after a call has read all that it needs.
--
-- KEYS[1]  the config: rate, interval, type, keepAliveTime
-- KEYS[2]  value, and
-- KEYS[3]  permits, the log, if all clients share them
-- KEYS[4]  value, and
-- KEYS[5]  permits of this client, if each has its own
-- KEYS[6]  and
-- KEYS[7]  the mark of a log of either kind: see state/mark.lua; not Redisson's
--
-- `value` is the rate minus the permits of all entries in the log, including expired entries that are still there; it may
-- be negative. A `value` that another client has changed is not trusted: if it is not sealed, the log is counted, unless it is
-- long and was counted just now.

-- The scripts that neither acquire nor refund count a log of up to this many entries, unless `value` is trusted.
local COUNTED_AT_LEISURE = 1000
-- The most times that one call reads further expired entries, so that it does not block the server.
local MOST_RELEASES = 10

-- Counts expired entries, the oldest in the log, as removed: they are to leave it.
local function drop(limiter, members)
  limiter.value, limiter.size = limiter.value + sumOf(members), limiter.size - #members
  limiter.dropped = limiter.dropped + #members
end

-- The same for a log with many expired entries, of which the oldest have been read.
local function catchUp(limiter, oldest, cutoff)
  local expired = redis.call('ZCOUNT', limiter.log, '-inf', cutoff)
  if limiter.size - expired > STEP then
    drop(limiter, oldest)
    limiter.expired = expired - #oldest
    return
  end
  -- A new log of the few live entries: the server can free the old one in the background.
  local live, sum = redis.call('ZRANGE', limiter.log, expired, -1, 'WITHSCORES'), 0
  for i = 1, #live, 2 do sum = sum + permitsOf(live[i]) end
  limiter.live, limiter.dropped = live, expired
  limiter.value, limiter.trusted, limiter.unknown, limiter.size = limiter.rate - sum, true, false, #live / 2
end

-- Whether the log is to be counted: `value` cannot be right, or the log is short, or it is its turn. A log with a sealed
-- `value` is counted so seldom that a call counts half an entry on average.
local function isDoubtful(limiter, always)
  local size, us = limiter.size, limiter.us
  if limiter.unknown or limiter.counted then return true end
  if limiter.trusted then return us % CHECKED == 0 and math.floor(us / CHECKED) % size < CHECKED / 2 end
  return size <= always or limiter.till <= us
end

-- When a key expires, in epoch milliseconds, or -1 for never; nothing before Redis 7, which lacks the command.
local function expiryOf(key)
  local expiry = redis.pcall('PEXPIRETIME', key)
  return type(expiry) == 'number' and expiry or nil
end

-- When the config expires, in epoch milliseconds, or -1 for never.
local function endOf(now)
  local ends = expiryOf(KEYS[1])
  if ends then return math.max(-1, ends) end
  local left = redis.call('PTTL', KEYS[1])
  return left < 0 and left or now + left
end

-- The limiter at the server's time, or nothing if it has no rate. A log of up to `always` entries is counted unless `value` is
-- trusted. A `config` that is about to be stored also has the amount by which it raises the rate; no mark is valid for its rate.
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
    -- `expired`: expired entries that are still in the log; `newest`: the moment of the newest entry.
    value = rate, size = 0, expired = 0, releases = 0, newest = 0, trusted = true, till = 0,
    -- `dropped`: how many of the oldest entries are to leave the log; `ahead`: entries ahead of the server's time.
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
  local sealed = expiry > SEALED and (expiry - SEALED) % SEAL_STEP == 0 and (expiry - SEALED) / SEAL_STEP
  local raised = sealed and rate - sealed or config.raised or 0
  limiter.size = redis.call('ZCARD', log)
  -- Each entry holds at least one permit.
  local possible = known and known + raised <= rate - limiter.size
  local same, till = false, 0
  if not sealed and not config.raised then same, till = readMark(limiter, known, expiry) end
  limiter.trusted, limiter.till = possible and (sealed or same), till
  -- The seal is already the right one: then the log has no expiry to remove either.
  limiter.settled = limiter.trusted and sealed == rate and limiter.ends == -1 and limiter.keepAlive == 0 and known
  limiter.value = possible and known + raised or rate - limiter.size
  limiter.counted = countedOf(limiter)
  limiter.unknown = not possible or (limiter.counted and limiter.counted.unknown)
  if limiter.newest > limiter.at then
    -- From a client whose clock is ahead: they get the present moment.
    limiter.ahead = redis.call('ZRANGEBYSCORE', log, '(' .. limiter.at, '+inf', 'LIMIT', 0, STEP)
    limiter.newest = limiter.at
  end
  local expired = redis.call('ZRANGEBYSCORE', log, '-inf', cutoff, 'LIMIT', '0', STEP)
  if #expired == STEP then
    catchUp(limiter, expired, cutoff)
  elseif expired[1] then
    drop(limiter, expired)
  end
  if isDoubtful(limiter, always or 0) then countLog(limiter) end
  return limiter
end

-- A lower bound of the free permits: each expired entry that is still in the log holds at least one.
local function freeOf(limiter)
  return limiter.unknown and 0 or limiter.value + limiter.expired
end

-- Drops more expired entries until `permits` are free, as far as one call may.
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
