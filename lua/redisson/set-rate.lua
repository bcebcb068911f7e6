-- Sets the rate of a limiter, on the keys of Redisson.
--
-- KEYS[1…7]  as in state/limiter.lua
--
-- ARGV[1]    'new' where the limiter must have no rate yet, 'known' where it must have one, 'any' else
-- ARGV[2]    the rate
-- ARGV[3]    the interval in milliseconds
-- ARGV[4]    the type: 0 where all clients share the permits, 1 where each has its own
-- ARGV[5]    the keep-alive in milliseconds, or 0
-- ARGV[6]    1 where what was granted goes on counting
--
-- Reply: whether the rate was set: 1 or 0.

-- @include "redisson/state/save"

local before = redis.call('HMGET', KEYS[1], 'rate', 'type', 'keepAliveTime')
local known = before[1] and before[2]
if (ARGV[1] == 'new' and known) or (ARGV[1] == 'known' and not known) then return 0 end

local rate, keepAlive = tonumber(ARGV[2]), tonumber(ARGV[5])
redis.call('HSET', KEYS[1], 'rate', ARGV[2], 'interval', ARGV[3], 'type', ARGV[4], 'keepAliveTime', ARGV[5])
if keepAlive > 0 then
  redis.call('PEXPIRE', KEYS[1], keepAlive)
elseif tonumber(before[3] or 0) > 0 then
  -- The life that it had was that of the keep-alive before.
  redis.call('PERSIST', KEYS[1])
end

-- Of a limiter that is gone something may be left: entries that still count, or a `value` that means nothing.
local keeps = ARGV[1] == 'new' or (ARGV[6] == '1' and before[2] == ARGV[4])
-- What was known of the log was known for another rate.
redis.call('UNLINK', unpack(KEYS, keeps and 6 or 2))
local limiter = openLimiter(COUNTED_AT_LEISURE, known and rate - tonumber(before[1]))
if limiter.size == 0 then
  redis.call('DEL', limiter.valueKey)
else
  saveLimiter(limiter, false)
end
return 1
