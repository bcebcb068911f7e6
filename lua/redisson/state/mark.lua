-- What a key of ours says of a log that was counted: until when, in sixteen digits of microseconds, the log need not be
-- counted again whatever somebody has made of `value` since, and for which rate. Beside a config that ends also `value` and
-- the number of entries when they were known last, and two dashes beside one that lasts.
--
-- That these are the same may come about by chance. So a `value` that is known ends a millisecond before the config:
-- Redisson gives it the end of the config with each call.

-- Microseconds for each entry counted in which the log is not counted again: where `value` is made anew all the time,
-- counting takes a hundredth of the server's. A log of few entries is counted each time.
local BELIEVED = 10

-- Whether `value` is as it was when it was known last, and until when it is believed if it is not.
local function readMark(limiter, value)
  local isOurs = limiter.ends ~= -1 and redis.pcall('PEXPIRETIME', limiter.valueKey) == limiter.ends - 1
  local till, rate, rest = string.match(redis.call('GET', limiter.mark) or '', '^(%d+) (%d+)( .+)$')
  if rate ~= limiter.rateText then return false, 0 end
  return isOurs and value and rest == ' ' .. value .. ' ' .. limiter.size, tonumber(till)
end

local function writeMark(limiter)
  local life = math.floor((limiter.till - limiter.us) / 1000)
  if limiter.ends ~= -1 then life = limiter.ends - limiter.now end
  -- Who has a keep-alive that lasts for now is not one of those that quick.lua serves.
  if life <= 0 or (limiter.ends == -1 and limiter.keepAlive > 0) then return end
  local known = limiter.ends == -1 and '- -' or limiter.value .. ' ' .. limiter.size
  redis.call('SET', limiter.mark, string.format('%016.0f ', limiter.till) .. limiter.rateText .. ' ' .. known, 'PX', life)
end
