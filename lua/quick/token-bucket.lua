-- @include "heads/token-bucket"

-- The fast path of lua/limits/token-bucket.lua.

if kind == BUCKET_KIND then
  -- The format of the head and of the kind's numbers, the first byte that no grant changes, and the bytes before the text.
  local NUMBERS, CONSTANT, TEXT_AT = '<BBI7I6I6I6I6di6BI6I6I6I7I7I7', 67, 87
  local letter, version, units, lastAt, count, since, stop, held
  local cap, cost
  -- The steps that follow the text begin at `behind`. A new one among them, and the bytes before it and behind it.
  local behind, step, before, after = TEXT_AT + #text + 1, nil, nil, nil
  if not fresh and #data >= TEXT_AT then
    letter, version, epoch, calm, kept, seen, expires, units, lastAt, count, since, stop, held, permits, interval, extra =
      struct.unpack(NUMBERS, data)
    -- @inline "quick/check"
    after = behind + (count > 0 and count - 1 or 0) * STEP_SIZE
    taken = taken and lastAt >= -2 and units <= extra * interval and units > -2 ^ 60 and #data >= after - 1
  end
  if fresh or taken then cap, cost = extra * interval, asked * interval end
  if fresh and cost <= cap then
    taken, epoch = true, math.max(forgotten, us)
    units, lastAt, count, stop = cap, -2, 0, -1
  elseif taken then
    if lastAt > seen and lastAt <= now then lastAt = -1 end
    units = now - seen >= (cap - units) / permits and cap or units + (now - seen) * permits
    if units == cap and stop < now then
      if count > 1 then step, before = '', behind end
      count = 0
    end
    if count == 0 then stop = -1 end
    taken = units >= cost
  end
  if taken then
    if at <= stop then
      taken, held = at >= since, held + asked
      if now ~= lastAt then lastAt = -2 end
    elseif now == lastAt then
      stop, held = at, held + asked
    else
      -- The newest step becomes the second one. It is merged with the third if both are small.
      if count > 0 then
        before = after
        if count > 1 then
          local third, _, more = struct.unpack(STEP, data, after - STEP_SIZE)
          if (held + more) * (stop > now and 8 or 2) <= extra then
            since, held, before, count = third, held + more, after - STEP_SIZE, count - 1
          end
        end
        step = struct.pack(STEP, since, stop, held)
      end
      count, since, stop, held, lastAt = count + 1, at, at, asked, now
    end
    units = units - cost
    full = now + math.ceil((cap - units) / permits)
    if exact then left = (units - units % interval) / interval end
    taken = taken and count <= MOST_PAST and held < HELD_BOUND and full < MOMENT_BOUND
  end
  if taken then
    -- @inline "quick/renew"
    if renewed then
      whole = struct.pack(NUMBERS, kind, VERSION, epoch, calm, kept, now, till, units, lastAt, count, since, stop, held, permits,
        interval, extra)
      if fresh then
        whole = whole .. text
      elseif step then
        whole = whole .. string.sub(data, TEXT_AT + 1, before - 1) .. step .. string.sub(data, after)
      else
        whole = whole .. string.sub(data, TEXT_AT + 1)
      end
    else
      changed = struct.pack('<I6I6di6BI6I6I6', now, till, units, lastAt, count, since, stop, held)
      if step then
        whole = string.sub(data, 1, 21) .. changed .. string.sub(data, CONSTANT, before - 1) .. step
        if #data >= after then whole = whole .. string.sub(data, after) end
      end
    end
  end
end
