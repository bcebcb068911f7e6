-- @include "redisson/state/ending"

-- Most calls are of one request, with a `value` that is sealed, or else known, and with little in the log that has expired.
-- They end here: few functions are made for them, as each would be made anew with every call, and as few numbers as can be
-- are made strings. Whatever is written before it turns out that more has to be done agrees with the log by itself.

-- So much that has expired is taken out here.
local MOST_EXPIRED = 100
-- One call in so many takes out what has expired even where it is not needed yet: the log must not fill up with it.
local TIDIED = 16

do
  local call = redis.call
  local config = call('HMGET', KEYS[1], 'rate', 'interval', 'type', 'keepAliveTime')
  local rate, interval, own = config[1], config[2], config[3] == '1'
  if ARGV[2] and not ARGV[3] and rate and interval then
    local valueKey, log = own and KEYS[4] or KEYS[2], own and KEYS[5] or KEYS[3]
    local value, permits, time = call('GET', valueKey), ARGV[2] + 0, redis.call('TIME')
    local us, format = time[1] * 1000000 + time[2], string.format
    local part = us % 1000
    local now = (us - part) / 1000
    local moment, cutoff = format('%d', part > 0 and now + 1 or now), now - interval
    local ends, expiry = redis.pcall('PEXPIRETIME', KEYS[1]), redis.pcall('PEXPIRETIME', valueKey)
    local sure, tidy, more, open, close = us % CHECKED > 0, us % TIDIED == 0, 0, nil, nil
    if ends ~= -1 or expiry ~= SEALED + rate then
      open, close = unsealedCalls()
      sure = sure and open({
        rate = rate, interval = interval, valueKey = valueKey, log = log, mark = own and KEYS[7] or KEYS[6],
        own = own, keepAlive = config[4], ends = ends, expiry = expiry,
      }, value, us, moment, permits)
    end
    if not sure or permits > 4294967295 or call('ZCOUNT', log, '(' .. moment, '+inf') > 0 then value = nil end
    while value do
      value = value + 0
      if value >= permits and not tidy then
        -- A call that is sent again finds its entry there.
        local added = call('ZADD', log, moment, ARGV[1])
        if added == 1 then call('DECRBY', valueKey, ARGV[2]) end
        if close then close(value - added * permits, more + added, value == rate + 0) end
        return us
      end
      if value < permits then
        local oldest = call('ZRANGE', log, '0', '0', 'WITHSCORES')
        if not oldest[1] then break end
        if oldest[2] + 0 > cutoff then
          local a, b, c, d = string.byte(oldest[1], -4, -1)
          -- Who needs more than the oldest entry holds has to wait for others too.
          if value + a + b * 256 + c * 65536 + d * 16777216 < permits then break end
          if close then close(value, more) end
          return { us, (oldest[2] + math.min(interval, 9007199254740992)) * 1000 - us }
        end
      end
      local expired = call('ZCOUNT', log, '-inf', format('%d', cutoff))
      if expired > MOST_EXPIRED then break end
      if expired > 0 then
        local members, freed = call('ZRANGE', log, 0, expired - 1), 0
        for i = 1, expired do
          local a, b, c, d = string.byte(members[i], -4, -1)
          freed = freed + a + b * 256 + c * 65536 + d * 16777216
        end
        call('ZREMRANGEBYRANK', log, 0, expired - 1)
        call('INCRBY', valueKey, freed)
        value, more = value + freed, more - expired
      end
      tidy = false
    end
  end
end
