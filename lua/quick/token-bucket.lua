-- @include "heads/token-bucket"

-- The fast path of lua/limits/token-bucket.lua.

if kind == BUCKET_KIND then
  -- The format of the head and of the kind's numbers, and the bytes before the text.
  local NUMBERS, TEXT_AT = '<HI7I6I6I6I6di6BI6I6I6I7I7I7I7', 94
  local mark, units, lastAt, count, since, stop, held
  local cap, cost
  -- Where the steps that follow the text begin.
  local behind = TEXT_AT + #text + 1
  if not fresh and #data >= TEXT_AT then
    mark, epoch, calm, kept, seen, expires, units, lastAt, count, since, stop, held, permits, interval, extra,
      sum = struct.unpack(NUMBERS, data)
    -- @inline "heads/checksum"
    -- @inline "quick/check"
    after = behind + (count > 0 and count - 1 or 0) * STEP_SIZE
    taken = taken and lastAt >= ONLY_KEPT and units <= extra * interval and units > -2 ^ 60 and #data >= after - 1
  end
  if fresh or taken then cap, cost = extra * interval, asked * interval end
  if fresh and cost <= cap then
    taken, epoch = true, forgotten > us and forgotten or us
    units, lastAt, count, stop = cap, MIXED, 0, 0
  elseif taken then
    if lastAt > seen and lastAt <= now then lastAt = CLOSED end
    units = now - seen >= (cap - units) / permits and cap or units + (now - seen) * permits
    if units == cap and stop < now then
      if count > 1 then added, place = '', behind end
      count = 0
    end
    if count == 0 then stop = 0 end
    -- Reservations that are ahead may move up first.
    taken = cost <= cap and (units >= cost or stop <= at)
    if units < cost then refused = now + math.ceil((cost - units) / permits) end
  end
  if taken then
    if refused then
      cost = 0
    elseif exact and (count == 0 or lastAt == ONLY_KEPT and at >= since) then
      -- A decision is never refunded: without other grants, one step is enough.
      if count == 0 then count, since, held, lastAt = 1, at, 0, ONLY_KEPT end
      if at > stop then stop = at end
      held = held + asked
    elseif at <= stop then
      taken, held = at >= since, held + asked
      if now ~= lastAt then lastAt = MIXED end
    elseif now == lastAt then
      stop, held = at, held + asked
    else
      -- The newest step becomes the second one. It is merged with the third if both are small.
      if count > 0 then
        place = after
        if count > 1 then
          local third, _, more = struct.unpack(STEP, data, after - STEP_SIZE)
          if (held + more) * MERGED_PART <= extra then
            since, held, place, count = third, held + more, after - STEP_SIZE, count - 1
          end
        end
        added = struct.pack(STEP, since, stop, held)
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
      taken = struct.pack(NUMBERS, kind + 256 * VERSION, epoch, calm, kept, now, till, units, lastAt, count, since, stop, held,
        permits, interval, extra, sum)
    else
      taken = struct.pack('<I6I6di6BI6I6I6', now, till, units, lastAt, count, since, stop, held)
    end
  end
end
