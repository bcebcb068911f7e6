-- @include "heads/token-bucket"

-- The fast path of lua/limits/token-bucket.lua.

if kind == BUCKET_KIND then
  local letter, version, p, i, x, units, tail, since1, held1, since0, held0, lastAt, lastAfter, lastCount, reserved, behind
  local rest, cap, cost = '', extra * interval, asked * interval
  if not fresh and #data >= SMALL_BUCKET_SIZE then
    letter, version, epoch, seen, expires, calm, slack, p, i, x, units, tail, since1, held1, since0, held0, lastAt, lastAfter,
      lastCount, reserved, behind = struct.unpack(SMALL_BUCKET, data)
    -- @inline "quick/check"
    taken = taken and tail >= -1 and lastAt >= -1 and lastAfter >= -1 and held1 >= 0 and held0 >= 0
      and units <= cap and units > -2 ^ 60 and held1 + held0 < 2 ^ 60
    if taken and expires <= now then
      fresh, taken, forgotten, expires, calm, slack = true, false, math.max(forgotten, epoch + 1), 0, 0, -1
    elseif taken then
      if lastAt > seen and lastAt <= now then lastAt = -1 end
      units = now - seen >= (cap - units) / permits and cap or units + (now - seen) * permits
      taken = units >= cost
      if #data >= behind then rest = string.sub(data, behind) end
    end
  end
  if fresh and cost <= cap then
    taken, epoch, rest = true, math.max(forgotten, us), ''
    units, tail, since1, held1, since0, held0, lastAt, lastAfter, lastCount, reserved = cap, -1, 0, 0, 0, 0, -1, -1, 0, 0
  end
  if taken then
    if at > now then reserved = (tail > now and reserved or 0) + asked end
    if now == lastAt then
      lastCount = lastCount + asked
    else
      if now >= since1 and lastAfter >= since1 and held1 * 2 > extra then
        local held = tail > lastAfter and lastCount or 0
        since0, since1, held0, held1 = since1, lastAfter + 1, held1 - held, held
      end
      lastAt, lastAfter, lastCount = now, tail, asked
    end
    if at >= since1 then held1 = held1 + asked elseif at >= since0 then held0 = held0 + asked end
    tail = at > tail and at or tail
    units = units - cost
    full, left = now + math.ceil((cap - units) / permits), math.floor(units / interval)
    taken = reserved < 2 ^ 32 and lastCount < 2 ^ 32 and full < MOMENT_BOUND
    if taken then
      -- @inline "quick/renew"
      taken = struct.pack(SMALL_BUCKET, kind, VERSION, epoch, now, till, calm, slack, permits, interval, extra, units, tail, since1,
        held1, since0, held0, lastAt, lastAfter, lastCount, reserved) .. rest
    end
  end
end
