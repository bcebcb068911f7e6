-- @include "redisson/state/seal"

-- For the calls of quick.lua with a `value` without a seal: its config expires, or it was set anew just now.

-- One function makes both, so that a call which needs neither does not make them. It has no outer variables, for the same
-- reason.
local function unsealedCalls()
  -- The part of a keep-alive after which it is renewed: that takes a command for each key.
  local USED_UP = 1 / 1024
  local call, sub = redis.call, string.sub
  local rate, interval, log, key, mark, rest, known, size, ends, life, kept, own

  -- Whether `value` can be used as it is. If not, the call takes the slow path.
  local function open(limiter, value, us, moment, permits)
    rate, interval, log, key, ends = limiter.rate, limiter.interval, limiter.log, limiter.mark, limiter.ends
    own = limiter.own
    mark = value and type(ends) == 'number' and call('GET', key)
    if not mark or permits > rate + 0 then return false end
    rest = ' ' .. rate
    if own then
      size = call('ZCARD', log)
      rest = rest .. ' ' .. value .. ' ' .. size
    end
    known = limiter.expiry == ends - 1 and sub(mark, 17) == rest
    if not known then
      -- Whether the log was counted just now, and allows `value`.
      local number, till = tonumber(value), tonumber(sub(mark, 1, 16))
      if string.match(mark, ' (%d+)') ~= rate or not till or us >= till then return false end
      if not number or number % 1 ~= 0 or number > rate - call('ZCARD', log) then return false end
      if ends == -1 then return not own and limiter.expiry == -1 end
    end
    local keepAlive = (limiter.keepAlive or 0) + 0
    life = ends - moment
    if keepAlive > 0 and life < math.max(interval, keepAlive * (1 - USED_UP)) then
      kept, life = moment + keepAlive, keepAlive
    end
    if life + 0 < interval + 0 then return false end
    if kept then
      call('PEXPIREAT', KEYS[1], kept)
      call('PEXPIREAT', limiter.valueKey, known and kept - 1 or kept)
      call('PEXPIREAT', log, kept)
      call('PEXPIREAT', key, kept)
    elseif not known and limiter.expiry ~= ends then
      call('PEXPIREAT', limiter.valueKey, ends)
      call('PEXPIREAT', log, ends)
    end
    return true
  end

  -- Writes the mark, after `more` entries were added.
  local function close(value, more, isNew)
    if ends == -1 then
      call('PERSIST', log)
      return
    end
    if isNew or not known then call('PEXPIREAT', log, kept or ends) end
    if not known or not own then return end
    local now = ' ' .. rate .. ' ' .. value .. ' ' .. size + more
    if now ~= rest then call('SET', key, sub(mark, 1, 16) .. now, 'PX', life) end
  end

  return open, close
end
