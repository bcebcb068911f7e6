-- @include "redisson/state/limiter"

-- Writes what a call makes of a limiter, once all has been read. A call may fail half-way, where its user lacks a command: the
-- order is such that less is granted then, and never more. What leaves the log has left it before `value` rises, `value` has
-- fallen before an entry is added, and what says that `value` is right comes last.

-- The first part: a count that is under way is noted, and what has expired leaves the log.
local function beginSave(limiter)
  local log, live = limiter.log, limiter.live
  if limiter.progress then
    redis.call('HSET', KEYS[1], fieldOf(limiter), cmsgpack.pack(limiter.progress))
    -- Nobody who is told that the log was counted before is to take that for the end of this count.
    redis.call('UNLINK', limiter.mark)
  end
  if limiter.emptied then
    redis.call('UNLINK', log)
  elseif live then
    -- Changes nothing: whether the entries may be written is to show before the old log is gone.
    redis.call('ZADD', log, live[2], live[1])
    redis.call('UNLINK', log)
    for i = 1, #live, 2 do redis.call('ZADD', log, live[i + 1], live[i]) end
  elseif limiter.dropped > 0 then
    redis.call('ZREMRANGEBYRANK', log, 0, limiter.dropped - 1)
  end
end

-- An entry of the log becomes another one, of fewer permits.
local function replaceEntry(limiter, moment, entry, rest)
  local log = limiter.log
  -- Changes nothing: whether the rest may be written is to show before the entry is gone.
  redis.call('ZADD', log, moment, entry)
  redis.call('ZREM', log, entry)
  redis.call('ZADD', log, math.min(limiter.at, moment), rest)
end

-- Looks at what is left in the log after entries have been taken out of it.
local function lookAgain(limiter)
  local newest = redis.call('ZREVRANGE', limiter.log, '0', '0', 'WITHSCORES')
  limiter.size, limiter.newest = redis.call('ZCARD', limiter.log), math.min(limiter.at, newest[2] or 0)
end

local function writeValue(limiter)
  local settled = limiter.settled
  if not settled then
    -- Who believes a `value` that is unknown is to grant nothing. It has no seal for now.
    redis.call('SET', limiter.valueKey, limiter.unknown and math.min(0, limiter.value) or limiter.value)
  elseif limiter.value ~= settled then
    redis.call('INCRBY', limiter.valueKey, limiter.value - settled)
  end
end

-- Gives log and `value` the life of the config, or what it takes until the log counts no more: those of other clients cannot
-- be reached when somebody changes the config's.
local function writeEnds(limiter)
  if limiter.ends == -1 then
    redis.call('PERSIST', limiter.log)
    -- A limiter with a keep-alive that lasts for now has to be looked at by whoever uses it.
    if limiter.trusted and limiter.keepAlive == 0 and limiter.rate < SEALED then
      redis.call('PEXPIREAT', limiter.valueKey, SEALED + limiter.rate)
    end
    return
  end
  local life = limiter.ends
  if limiter.size > 0 then life = math.max(life, limiter.newest + limiter.interval) end
  redis.call('PEXPIREAT', limiter.log, life)
  redis.call('PEXPIREAT', limiter.valueKey, limiter.trusted and life == limiter.ends and life - 1 or life)
end

-- The last part, when the log and `value` have been written. `used` says that the limiter was: that keeps it alive.
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

-- All of it, where only the log's own time has gone on.
local function saveLimiter(limiter, used)
  beginSave(limiter)
  writeValue(limiter)
  endSave(limiter, used)
end
