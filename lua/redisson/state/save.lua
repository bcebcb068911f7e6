-- @include "redisson/state/limiter"

-- Writes the new state of a limiter, after a call has read all that it needs. A call may fail half-way if its user may not run
-- a command: the order of the writes makes the limit stricter then, never looser. Entries leave the log before `value` rises,
-- `value` falls before an entry is added, and the seal and the mark come last.

-- The first part: saves the progress of a count, and removes expired entries.
local function beginSave(limiter)
  local log, live = limiter.log, limiter.live
  if limiter.progress then
    redis.call('HSET', KEYS[1], fieldOf(limiter), cmsgpack.pack(limiter.progress))
    -- The mark of an earlier count must not pass for the end of this one.
    redis.call('UNLINK', limiter.mark)
  end
  if limiter.emptied then
    redis.call('UNLINK', log)
  elseif live then
    -- Changes nothing, but fails before the old log is gone if entries may not be written.
    redis.call('ZADD', log, live[2], live[1])
    redis.call('UNLINK', log)
    for i = 1, #live, 2 do redis.call('ZADD', log, live[i + 1], live[i]) end
  elseif limiter.dropped > 0 then
    redis.call('ZREMRANGEBYRANK', log, 0, limiter.dropped - 1)
  end
end

-- Replaces an entry of the log by one of fewer permits.
local function replaceEntry(limiter, moment, entry, rest)
  local log = limiter.log
  -- Changes nothing, but fails before the entry is gone if the rest may not be written.
  redis.call('ZADD', log, moment, entry)
  redis.call('ZREM', log, entry)
  redis.call('ZADD', log, math.min(limiter.at, moment), rest)
end

-- Reads the log again after entries were removed.
local function lookAgain(limiter)
  local newest = redis.call('ZREVRANGE', limiter.log, '0', '0', 'WITHSCORES')
  limiter.size, limiter.newest = redis.call('ZCARD', limiter.log), math.min(limiter.at, newest[2] or 0)
end

local function writeValue(limiter)
  local settled = limiter.settled
  if not settled then
    -- A client that trusts an unknown `value` must not grant anything, so none above 0 is written. SET also removes the seal.
    redis.call('SET', limiter.valueKey, limiter.unknown and math.min(0, limiter.value) or limiter.value)
  elseif limiter.value ~= settled then
    redis.call('INCRBY', limiter.valueKey, limiter.value - settled)
  end
end

-- Sets the expiry of the log and of `value` to that of the config, or to when the last entry expires: a change of the config
-- does not reach the keys of other clients.
local function writeEnds(limiter)
  if limiter.ends == -1 then
    redis.call('PERSIST', limiter.log)
    -- No seal for a limiter with a keep-alive whose config does not expire: its next use has to set an expiry.
    if limiter.trusted and limiter.keepAlive == 0 and limiter.rate * SEAL_STEP < SEALED then
      redis.call('PEXPIREAT', limiter.valueKey, SEALED + limiter.rate * SEAL_STEP)
    end
    return
  end
  local life = limiter.ends
  if limiter.size > 0 then life = math.max(life, limiter.newest + limiter.interval) end
  redis.call('PEXPIREAT', limiter.log, life)
  redis.call('PEXPIREAT', limiter.valueKey, limiter.trusted and life == limiter.ends and life - 1 or life)
end

-- The last part, after the log and `value`. `used` renews the keep-alive.
local function endSave(limiter, used)
  for i = 1, #limiter.ahead do redis.call('ZADD', limiter.log, 'XX', limiter.at, limiter.ahead[i]) end
  if limiter.settled then return end
  if used and limiter.keepAlive > 0 then
    limiter.ends = limiter.at + limiter.keepAlive
    redis.call('PEXPIREAT', KEYS[1], limiter.ends)
  end
  writeEnds(limiter)
  if not limiter.trusted then return end
  if limiter.counted then redis.call('HDEL', KEYS[1], fieldOf(limiter)) end
  writeMark(limiter)
end

-- Both parts, for a call that neither grants nor refunds.
local function saveLimiter(limiter, used)
  beginSave(limiter)
  writeValue(limiter)
  endSave(limiter, used)
end
