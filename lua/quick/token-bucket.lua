-- @include "heads/token-bucket"

-- The fast path of lua/limits/token-bucket.lua.

if kind == BUCKET_KIND then
  local letter, version, p, i, x, units, lastAt, count, behind
  local since, stop, held = 0, -1, 0
  local rest, cap, cost = '', extra * interval, asked * interval
  if not fresh and #data >= SMALL_BUCKET_SIZE then
    letter, version, epoch, seen, expires, calm, slack, p, i, x, units, lastAt, count, behind = struct.unpack(SMALL_BUCKET, data)
    -- @inline "quick/check"
    taken = taken and lastAt >= -2 and units <= cap and units > -2 ^ 60 and #data >= behind - 1 + count * STEP_SIZE
    if taken and expires <= now then
      fresh, taken, forgotten, expires, calm, slack = true, false, math.max(forgotten, epoch + 1), 0, 0, -1
    elseif taken then
      if lastAt > seen and lastAt <= now then lastAt = -1 end
      units = now - seen >= (cap - units) / permits and cap or units + (now - seen) * permits
      if count > 0 then since, stop, held = struct.unpack(STEP, data, behind) end
      if units == cap and stop < now then
        behind = behind + count * STEP_SIZE
        count, stop = 0, -1
      elseif count > 0 then
        behind = behind + STEP_SIZE
      end
      taken = units >= cost
      if #data >= behind then rest = string.sub(data, behind) end
    end
  end
  if fresh and cost <= cap then
    taken, epoch, rest = true, math.max(forgotten, us), ''
    units, lastAt, count, stop = cap, -2, 0, -1
  end
  if taken then
    if at <= stop then
      taken, held = at >= since, held + asked
      if now ~= lastAt then lastAt = -2 end
    elseif now == lastAt then
      stop, held = at, held + asked
    else
      -- The newest step becomes the second one. It is merged with the third if both are small.
      local third, ends, more, small
      if count > 1 then
        third, ends, more = struct.unpack(STEP, rest)
        small = (held + more) * (stop > now and 8 or 2) <= extra
      end
      if small then
        rest = struct.pack(STEP, third, stop, held + more) .. string.sub(rest, STEP_SIZE + 1)
      else
        if count > 0 then rest = struct.pack(STEP, since, stop, held) .. rest end
        count = count + 1
      end
      since, stop, held, lastAt = at, at, asked, now
    end
    units = units - cost
    full = now + math.ceil((cap - units) / permits)
    if exact then left = math.floor(units / interval) end
    taken = taken and count <= MOST_PAST and held < HELD_BOUND and full < MOMENT_BOUND
    if taken then
      -- @inline "quick/renew"
      taken = struct.pack(BUCKET_WITH_STEP, kind, VERSION, epoch, now, till, calm, slack, permits, interval, extra, units, lastAt,
        count, since, stop, held) .. rest
    end
  end
end
