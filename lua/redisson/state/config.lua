-- The config of a limiter, as Redisson writes it. An invalid config is an error.

-- Larger numbers are not exact; rates that are to mean no limit are larger.
local MOST = 9007199254740992

local function refuse(field, expected, value)
  error('key ' .. KEYS[1] .. ': expected ' .. field .. ' to be ' .. expected .. ', got ' .. string.sub(value, 1, 40), 0)
end

local function wholeNumber(field, value, least, expected)
  if not string.find(value, '^%d+$') or value + 0 < least then refuse(field, expected, value) end
  return math.min(value + 0, MOST)
end

-- The config that the fields hold.
local function configOf(rate, interval, type, keepAlive)
  if type ~= '0' and type ~= '1' then refuse('type', '0 or 1', type) end
  return {
    rate = wholeNumber('rate', rate, 1, 'a positive integer'), rateText = rate,
    interval = wholeNumber('interval', interval, 1, 'a positive integer'),
    own = type == '1',
    keepAlive = wholeNumber('keepAliveTime', keepAlive or '0', 0, 'a whole number'),
  }
end

-- The stored config, or nothing if the limiter has no rate.
local function readConfig()
  local fields = redis.call('HMGET', KEYS[1], 'rate', 'interval', 'type', 'keepAliveTime')
  if fields[1] and fields[2] and fields[3] then return configOf(unpack(fields, 1, 4)) end
end
