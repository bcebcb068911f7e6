-- @include "redisson/state/ending"

-- Most calls are of one request, with a `value` that is sealed, or else known, and with little in the log that has expired.
-- They end here: few functions are made for them, as each would be made anew with every call, and as few numbers as can be
-- are made strings. Whatever is written before it turns out that more has to be done agrees with the log by itself, or says
-- less is free than is: of a call that fails half-way, too, as its user lacks a command.

-- So much that has expired is taken out here.
local MOST_EXPIRED = 100
-- One call in so many takes out what has expired even where it is not needed yet: the log must not fill up with it.
local TIDIED = 16

do
  local call, try = redis.call, redis.pcall
  local config = call('HMGET', KEYS[1], 'rate', 'interval', 'type', 'keepAliveTime')
  local rate, own, find = config[1], config[3] == '1', string.find
  local limit = tonumber(rate)
  -- What is no config is refused further down. A `value` is known for right rates alone.
  local isConfig = limit and config[2] and find(config[2], '^[1-9]%d*$') and (own or config[3] == '0')
  if ARGV[2] and not ARGV[3] and isConfig and find(config[4] or '0', '^%d+$') then
    local interval = config[2] + 0
    local valueKey, log = own and KEYS[4] or KEYS[2], own and KEYS[5] or KEYS[3]
    local value, permits, time = call('GET', valueKey), ARGV[2] + 0, redis.call('TIME')
    local us, format = time[1] * 1000000 + time[2], string.format
    local part = us % 1000
    local now = (us - part) / 1000
    local moment, cutoff = format('%d', part > 0 and now + 1 or now), now - interval
    local ends, expiry = try('PEXPIRETIME', KEYS[1]), try('PEXPIRETIME', valueKey)
    local tidy, more, open, close = us % TIDIED == 0, 0, nil, nil
    local sure = us % CHECKED > 0 and permits <= 4294967295 and call('ZCOUNT', log, '(' .. moment, '+inf') == 0
    if ends ~= -1 or expiry ~= SEALED + limit then
      open, close = unsealedCalls()
      sure = sure and open({
        rate = rate, interval = interval, valueKey = valueKey, log = log, mark = own and KEYS[7] or KEYS[6],
        own = own, keepAlive = config[4], ends = ends, expiry = expiry,
      }, value, us, moment, permits)
    end
    value = sure and tonumber(value)
    -- Twice at most: the second time, what has expired has been taken out.
    for _ = 1, value and 2 or 0 do
      if value >= permits and not tidy then
        -- Of those that are no whole number Redis subtracts nothing.
        if type(try('DECRBY', valueKey, ARGV[2])) == 'table' then break end
        -- A call that is sent again finds its entry there.
        local added = try('ZADD', log, moment, ARGV[1])
        if added ~= 1 then
          call('INCRBY', valueKey, ARGV[2])
          if added ~= 0 then return added end
        end
        if close then close(value - added * permits, more + added, value == limit) end
        return us
      end
      if value < permits then
        local oldest = call('ZRANGE', log, '0', '0', 'WITHSCORES')
        if not oldest[1] then break end
        if oldest[2] + 0 > cutoff then
          local a, b, c, d = string.byte(oldest[1], -4, -1)
          -- Who needs more than the oldest entry holds has to wait for others too.
          if not d or value + a + b * 256 + c * 65536 + d * 16777216 < permits then break end
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
          freed = d and freed + a + b * 256 + c * 65536 + d * 16777216
          if not d then break end
        end
        if not freed then break end
        call('ZREMRANGEBYRANK', log, 0, expired - 1)
        if type(try('INCRBY', valueKey, freed)) == 'table' then break end
        value, more = value + freed, more - expired
      end
      tidy = false
    end
  end
end
