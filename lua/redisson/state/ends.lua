-- @include "redisson/state/seal"

-- The expiry of a `value` that is right for a rate, beside a config that ends at a moment, or never: -1.
local function sealOf(rate, ends)
  if ends == -1 then return SEALED + rate % SEALED end
  return ends + AFTER + rate % MARKS
end

-- The moment at which the config ends, in milliseconds, or -1 where it lasts.
local function endOf(now)
  local ends = redis.pcall('PEXPIRETIME', KEYS[1])
  if type(ends) == 'number' then return ends end
  -- Redis has that command since 7.0.
  local left = redis.call('PTTL', KEYS[1])
  return left < 0 and left or now + left
end
