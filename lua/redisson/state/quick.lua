-- @include "redisson/state/seal"

-- Most calls are of one request, with a `value` that is sealed or was counted just now, and with little in the log that has
-- expired. They end here: no function is made for them, as each would be made anew with every call, and as few numbers as
-- can be are made strings. Whatever is written before it turns out that more has to be done agrees with the log by itself.

-- So much that has expired is taken out here.
local MOST_EXPIRED = 100
-- A keep-alive begins anew when it has been used up by more than so little: that takes a call for each key.
local USED_UP = 1 / 1024
-- One call in so many takes out what has expired even where it is not needed yet: the log must not fill up with it.
local TIDIED = 16

do
  local call = redis.call
  local config = call('HMGET', KEYS[1], 'rate', 'interval', 'type')
  local rate, interval, own = config[1], config[2], config[3] == '1'
  if ARGV[2] and not ARGV[3] and rate and interval then
    local valueKey, log = own and KEYS[4] or KEYS[2], own and KEYS[5] or KEYS[3]
    local value, permits, time = call('GET', valueKey), ARGV[2] + 0, redis.call('TIME')
    local us, format = time[1] * 1000000 + time[2], string.format
    local part = us % 1000
    local now = (us - part) / 1000
    local moment, cutoff = format('%d', part > 0 and now + 1 or now), now - interval
    local ends, expiry = redis.pcall('PEXPIRETIME', KEYS[1]), redis.pcall('PEXPIRETIME', valueKey)
    local sure, tidy, sealed, kept = us % CHECKED > 0, us % TIDIED == 0, true, false
    if ends ~= -1 or expiry ~= SEALED + rate % SEALED then
      if type(ends) ~= 'number' then
        sure = false
      elseif ends == -1 or expiry ~= ends + AFTER + rate % MARKS then
        sealed = false
        value = call('GET', own and KEYS[7] or KEYS[6]) == rate and tonumber(value)
        sure = value and value % 1 == 0 and value <= rate - call('ZCARD', log)
      end
      if sure and ends ~= -1 then
        local keepAlive, left = call('HGET', KEYS[1], 'keepAliveTime') or '0', ends - moment
        if keepAlive ~= '0' and left < math.max(interval, keepAlive * (1 - USED_UP)) then kept = keepAlive end
        if (kept or left) + 0 < interval + 0 or permits > rate + 0 then
          sure = false
        elseif kept then
          call('PEXPIRE', KEYS[1], kept)
          call('PEXPIRE', valueKey, sealed and kept + AFTER + rate % MARKS or kept)
        elseif not sealed then
          call('PEXPIREAT', valueKey, ends)
        end
      end
    end
    if not sure or permits > 4294967295 or call('ZCOUNT', log, '(' .. moment, '+inf') > 0 then value = nil end
    while value do
      value = value + 0
      if value >= permits and not tidy then
        -- A call that is sent again finds its entry there.
        if call('ZADD', log, moment, ARGV[1]) == 1 then call('DECRBY', valueKey, ARGV[2]) end
        if kept then
          call('PEXPIRE', log, kept)
        elseif ends ~= -1 and (not sealed or value == rate + 0) then
          -- It may be a new one.
          call('PEXPIREAT', log, ends)
        end
        return us
      end
      if value < permits then
        local oldest = call('ZRANGE', log, '0', '0', 'WITHSCORES')
        if not oldest[1] then break end
        if oldest[2] + 0 > cutoff then
          local a, b, c, d = string.byte(oldest[1], -4, -1)
          -- Who needs more than the oldest entry holds has to wait for others too.
          if value + a + b * 256 + c * 65536 + d * 16777216 < permits then break end
          if kept then call('PEXPIRE', log, kept) end
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
      tidy = false
    end
  end
end
