-- @include "redisson/state/limiter"

-- Saves `value`, and gives log and `value` the life of the config, or what it takes until the log counts no more: those
-- of other clients cannot be reached when somebody changes the config's. `used` says that the limiter was: that keeps it alive.
local function saveLimiter(limiter, used)
  if limiter.settled then
    if limiter.value ~= limiter.settled then
      redis.call('INCRBY', limiter.valueKey, limiter.value - limiter.settled)
    end
    return
  end
  if used and limiter.keepAlive > 0 then
    limiter.ends = limiter.at + limiter.keepAlive
    redis.call('PEXPIREAT', KEYS[1], limiter.ends)
  end
  -- Who believes a `value` that is unknown is to grant nothing.
  redis.call('SET', limiter.valueKey, limiter.unknown and math.min(0, limiter.value) or limiter.value)
  if limiter.ends == -1 then
    redis.call('PERSIST', limiter.log)
    -- A limiter with a keep-alive that lasts for now has to be looked at by whoever uses it.
    if limiter.trusted and limiter.keepAlive == 0 and limiter.rate < SEALED then
      redis.call('PEXPIREAT', limiter.valueKey, SEALED + limiter.rate)
    end
  else
    local life = limiter.ends
    if limiter.size > 0 then life = math.max(life, limiter.newest + limiter.interval) end
    redis.call('PEXPIREAT', limiter.log, life)
    redis.call('PEXPIREAT', limiter.valueKey, limiter.trusted and life == limiter.ends and life - 1 or life)
  end
  if limiter.trusted then writeMark(limiter) end
end
