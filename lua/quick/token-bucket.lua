-- @include "heads/token-bucket"

-- The quick way of lua/limits/token-bucket.lua.

if kind == BUCKET_KIND then
  local letter, version, seen, expires, calm, slack, p, i, x, units, tail, since1, held1, since0, held0, lastAt, lastAfter
  local lastCount, booked, behind
  local rest, cap, cost = '', extra * interval, asked * interval
  if not fresh and #data >= BUCKET_SIZE then
    letter, version, epoch, seen, expires, calm, slack, p, i, x, units, tail, since1, held1, since0, held0, lastAt, lastAfter,
      lastCount, booked, behind = struct.unpack(BUCKET_HEAD, data)
    taken = letter == BUCKET_KIND and version == VERSION and p == permits and i == interval and x == extra
      and now >= calm and seen >= 0 and seen <= now and epoch >= forgotten and expires >= 0
      and tail >= -1 and lastAt >= -1 and lastAfter >= -1 and since1 >= 0 and held1 >= 0 and since0 >= 0 and held0 >= 0
      and units <= cap and units > -2 ^ 60
      and epoch + expires + tail + since1 + held1 + since0 + held0 + lastAt + lastAfter < 2 ^ 60
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
    units, tail, since1, held1, since0, held0, lastAt, lastAfter, lastCount, booked = cap, -1, 0, 0, 0, 0, -1, -1, 0, 0
  end
  if taken then
    if at > now then booked = (tail > now and booked or 0) + asked end
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
    local till = full > expires and full or expires
    slack = slack - (till - expires)
    if slack < 0 then
      slack = math.min(till - now, 4294967295)
      renewed = till - now + slack
    end
    taken = taken and booked < 2 ^ 32 and lastCount < 2 ^ 32 and struct.pack(BUCKET_HEAD, BUCKET_KIND, VERSION, epoch, now, till,
      calm, slack, permits, interval, extra, units, tail, since1, held1, since0, held0, lastAt, lastAfter, lastCount, booked) .. rest
  end
end
