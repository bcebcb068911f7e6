-- @include "heads/token-bucket"

-- The quick way of lua/limits/token-bucket.lua.

if kind == BUCKET_KIND then
  local letter, version, seen, expires, calm, slack, p, i, x, units, tail, room1, room0, lastAt, lastAfter, lastRoom, lastCount
  local booked, behind
  local rest, cap, cost = '', extra * interval, asked * interval
  if not fresh and #data >= BUCKET_SIZE then
    letter, version, epoch, seen, expires, calm, slack, p, i, x, units, tail, room1, room0, lastAt, lastAfter, lastRoom,
      lastCount, booked, behind = struct.unpack(BUCKET_HEAD, data)
    taken = letter == BUCKET_KIND and version == VERSION and p == permits and i == interval and x == extra
      and now >= calm and seen >= 0 and seen <= now and epoch >= forgotten and expires >= 0
      and tail >= -1 and lastAt >= -1 and lastAfter >= -1 and lastCount >= 0 and booked >= 0
      and units <= cap and units + tail + room1 + room0 + lastRoom > -2 ^ 60
      and epoch + expires + tail + room1 + room0 + lastAt + lastAfter + lastRoom < 2 ^ 60
    if taken and expires <= now then
      fresh, taken, forgotten = true, false, math.max(forgotten, epoch + 1)
    elseif taken then
      if lastAt > seen and lastAt <= now then lastAt = -1 end
      units = now - seen >= (cap - units) / permits and cap or units + (now - seen) * permits
      taken = (known == 0 or known == epoch) and units >= cost
      if #data >= behind then rest = string.sub(data, behind) end
    end
  end
  if fresh and cost <= cap then
    taken, epoch, calm, expires, slack, rest = true, math.max(forgotten, us), 0, 0, -1, ''
    units, tail, room1, room0, lastAt, lastAfter, lastRoom, lastCount, booked = cap, -1, cap, cap, -1, -1, cap, 0, 0
  end
  if taken then
    if at > now then booked = (tail > now and booked or 0) + asked end
    if now == lastAt then
      lastCount = lastCount + asked
    else
      local room = cap - units
      if lastRoom < room0 then room0 = lastRoom end
      if lastRoom < room1 then room1 = lastRoom end
      -- A step of the line begins: the whole way knows how.
      if room1 * 2 < cap and (cap - room) * 2 <= cap - room1 then taken = false end
      lastAt, lastAfter, lastRoom, lastCount = now, tail, room, asked
    end
    tail = at > tail and at or tail
    units = units - cost
    full, left = now + math.ceil((cap - units) / permits), math.floor(units / interval)
    local till = full > expires and full or expires
    slack = slack - (till - expires)
    if slack < 0 then
      slack = math.min(till - now, 4294967295)
      renewed = till - now + slack
    end
    taken = taken and booked < 2 ^ 32 and lastCount < 2 ^ 32 and struct.pack(BUCKET_HEAD, BUCKET_KIND, VERSION, epoch, now, till,
      calm, slack, permits, interval, extra, units, tail, room1, room0, lastAt, lastAfter, lastRoom, lastCount, booked) .. rest
  end
end
