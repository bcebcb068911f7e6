-- What a key of ours says of a log that was counted: until when, in sixteen digits of microseconds, the log need not be
-- counted again whatever somebody has made of `value` since, and for which rate.
--
-- Beside a config that ends, a `value` that is known ends a millisecond before it: Redisson gives it the end of the config
-- with each call. Where each client has its own, another one may move that end: there the key says also what `value` and the
-- number of entries were when they were known last.

-- Microseconds for each entry counted in which the log is not counted again: where `value` is made anew all the time,
-- counting takes a hundredth of the server's. A log of few entries is counted each time.
local BELIEVED = 10

local function knownText(limiter, value)
  return limiter.own and ' ' .. value .. ' ' .. limiter.size or ''
end

-- Whether `value` is as it was when it was known last, and until when it is believed if it is not.
local function readMark(limiter, value, expiry)
  local isOurs = limiter.ends ~= -1 and expiry == limiter.ends - 1
  local till, rate, rest = string.match(redis.call('GET', limiter.mark) or '', '^(%d+) (%d+)(.*)$')
  if rate ~= limiter.rateText then return false, 0 end
  return isOurs and value and rest == knownText(limiter, value), tonumber(till)
end

local function writeMark(limiter)
  local life = math.floor((limiter.till - limiter.us) / 1000)
  if limiter.ends ~= -1 then life = limiter.ends - limiter.now end
  -- Who has a keep-alive that lasts for now is not one of those that quick.lua serves.
  if life <= 0 or (limiter.ends == -1 and limiter.keepAlive > 0) then return end
  local known = knownText(limiter, limiter.value)
  redis.call('SET', limiter.mark, string.format('%016.0f ', limiter.till) .. limiter.rateText .. known, 'PX', life)
end
