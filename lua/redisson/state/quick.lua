-- @include "redisson/state/ending"

-- The fast path, which serves most calls: one request, a `value` that is sealed or otherwise known to be right, and few
-- expired entries. It makes few functions, as each would be made anew with every call, and converts few numbers to strings.
-- If it turns out that the slow path is needed, the writes until then agree with the log, or leave fewer permits free. The same
-- holds for a call that fails half-way because its user may not run a command.

-- The most expired entries that are removed here.
local MOST_EXPIRED = 100
-- One call in so many removes expired entries although it does not need their permits, so that the log does not grow.
local TIDIED = 16

do
  local call, try = redis.call, redis.pcall
  local config = call('HMGET', KEYS[1], 'rate', 'interval', 'type', 'keepAliveTime')
  local rate, own, find = config[1], config[3] == '1', string.find
  local limit = tonumber(rate)
  -- The slow path refuses an invalid config.
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
    if ends ~= -1 or expiry ~= SEALED + limit * SEAL_STEP then
      open, close = unsealedCalls()
      sure = sure and open({
        rate = rate, interval = interval, valueKey = valueKey, log = log, mark = own and KEYS[7] or KEYS[6],
        own = own, keepAlive = config[4], ends = ends, expiry = expiry,
      }, value, us, moment, permits)
    end
    value = sure and tonumber(value)
    -- At most twice: the second time, the expired entries have been removed.
    for _ = 1, value and 2 or 0 do
      if value >= permits and not tidy then
        -- Redis subtracts nothing from a value that is no whole number.
        if type(try('DECRBY', valueKey, ARGV[2])) == 'table' then break end
        -- A call that is sent again finds its entry in the log.
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
          -- A request for more permits than the oldest entry holds has to wait for further entries.
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
