-- The mark of a counted log, a key of this package. It holds the time, in sixteen digits of microseconds, until which the log
-- is not counted again even if `value` has changed, and the rate for which that holds.
--
-- If the config expires, a `value` that is known to be right expires a millisecond earlier: each call of Redisson gives it
-- the expiry of the config. With a log for each client, another client may move the expiry of the config; there the mark also
-- holds `value` and the number of entries as they were last known.

-- Microseconds for each counted entry in which the log is not counted again, so that counting takes at most a hundredth of
-- the server's time. A short log is counted each time.
local BELIEVED = 10

local function knownText(limiter, value)
  return limiter.own and ' ' .. value .. ' ' .. limiter.size or ''
end

-- Whether `value` is as it was last known, and until when it is believed if it is not.
local function readMark(limiter, value, expiry)
  local isOurs = limiter.ends ~= -1 and expiry == limiter.ends - 1
  local till, rate, rest = string.match(redis.call('GET', limiter.mark) or '', '^(%d+) (%d+)(.*)$')
  if rate ~= limiter.rateText then return false, 0 end
  return isOurs and value and rest == knownText(limiter, value), tonumber(till)
end

local function writeMark(limiter)
  local life = math.floor((limiter.till - limiter.us) / 1000)
  if limiter.ends ~= -1 then life = limiter.ends - limiter.now end
  -- quick.lua does not serve a limiter with a keep-alive whose config does not expire.
  if life <= 0 or (limiter.ends == -1 and limiter.keepAlive > 0) then return end
  local known = knownText(limiter, limiter.value)
  redis.call('SET', limiter.mark, string.format('%016.0f ', limiter.till) .. limiter.rateText .. known, 'PX', life)
end
