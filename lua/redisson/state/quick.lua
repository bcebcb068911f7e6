-- @include "redisson/state/seal"

-- Most calls are of one request, to a limiter that lasts, with a sealed `value`, and with little in the log that has
-- expired. They end here: no function is made for them, as each would be made anew with every call, and as few numbers as
-- can be are made strings. Whatever is written before it turns out that more has to be done agrees with the log by itself.

-- So much that has expired is taken out here.
local MOST_EXPIRED = 100

do
  local call = redis.call
  local config = call('HMGET', KEYS[1], 'rate', 'interval', 'type')
  local rate, interval, own = config[1], config[2], config[3] == '1'
  local valueKey, log = own and KEYS[4] or KEYS[2], own and KEYS[5] or KEYS[3]
  if ARGV[3] and not ARGV[4] and rate and interval and call('PTTL', KEYS[1]) == -1
    and redis.pcall('PEXPIRETIME', valueKey) == SEALED + rate % SEALED then
    local value, permits, time = call('GET', valueKey) + 0, ARGV[3] + 0, redis.call('TIME')
    local us = time[1] * 1000000 + time[2]
    local part, format = us % 1000, string.format
    local now = (us - part) / 1000
    local moment, cutoff, tries = format('%d', part > 0 and now + 1 or now), now - interval, 0
    if us % CHECKED > 0 and permits <= 4294967295 and call('ZCOUNT', log, '(' .. moment, '+inf') == 0 then tries = 2 end
    for _ = 1, tries do
      if value < permits then
        local oldest = call('ZRANGE', log, '0', '0', 'WITHSCORES')
        if not oldest[1] then break end
        if oldest[2] + 0 > cutoff then
          local a, b, c, d = string.byte(oldest[1], -4, -1)
          -- Who needs more than the oldest entry holds has to wait for others too.
          if value + a + b * 256 + c * 65536 + d * 16777216 < permits then break end
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
        value = value + freed
      end
      if value >= permits then
        local entry = struct.pack('>Bc0I4I2I4<I4', 16, ARGV[1], ARGV[2], 0, 0, permits)
        -- A call that is sent again finds its entry there.
        if call('ZADD', log, moment, entry) == 1 then call('DECRBY', valueKey, ARGV[3]) end
        return us
      end
    end
  end
end
