-- Sets the rate of a limiter on the keys of Redisson.
--
-- KEYS[1…7]  as in state/limiter.lua
--
-- ARGV[1]    'new' if the limiter must not have a rate, 'known' if it must have one, 'any' otherwise
-- ARGV[2]    the rate
-- ARGV[3]    the interval in milliseconds
-- ARGV[4]    the type: 0 if all clients share the permits, 1 if each has its own
-- ARGV[5]    the keep-alive in milliseconds, or 0
-- ARGV[6]    1 if granted permits continue to count
--
-- Reply: 1 if the rate was set, or else 0.

-- @include "redisson/state/save"

local before = redis.call('HMGET', KEYS[1], 'rate', 'type', 'keepAliveTime')
local known = before[1] and before[2]
if (ARGV[1] == 'new' and known) or (ARGV[1] == 'known' and not known) then return 0 end

local config = configOf(ARGV[2], ARGV[3], ARGV[4], ARGV[5])
-- An invalid config is repaired, too: it does not tell which key holds the log, or for which rate `value` was.
local ofType = before[2] == ARGV[4] or (known and before[2] ~= '0' and before[2] ~= '1')
local rateBefore = known and string.find(before[1], '^%d+$') and tonumber(before[1])
config.raised = rateBefore and config.rate - rateBefore or (known and math.huge or 0)

-- A limiter that has expired may have left entries that still count, or a `value` without meaning.
local keeps = ARGV[1] == 'new' or (ARGV[6] == '1' and ofType)
local limiter = keeps and openLimiter(COUNTED_AT_LEISURE, config)

-- The marks are those of another rate.
redis.call('UNLINK', KEYS[6], KEYS[7])
redis.call('HSET', KEYS[1], 'rate', ARGV[2], 'interval', ARGV[3], 'type', ARGV[4], 'keepAliveTime', ARGV[5])
if config.keepAlive > 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[5])
elseif before[3] and before[3] ~= '0' then
  -- Its expiry was that of the former keep-alive.
  redis.call('PERSIST', KEYS[1])
end
if not keeps then
  redis.call('UNLINK', KEYS[2], KEYS[3], KEYS[4], KEYS[5])
elseif limiter.size == 0 then
  redis.call('UNLINK', limiter.log, limiter.valueKey)
else
  limiter.ends = endOf(limiter.now)
  saveLimiter(limiter, false)
end
return 1
