-- @include "heads/fixed-window"

-- The quick way of lua/limits/fixed-window.lua.

if kind == FIXED_KIND then
  local letter, version, seen, expires, calm, slack, p, i, x, start, stop, used, newest, booked, behind
  -- On the clock, a window opens with its first millisecond, not with the fraction before it.
  local rest, edge = '', extra == 1 and math.floor(at / interval) * interval or now
  if not fresh and #data >= FIXED_SIZE then
    letter, version, epoch, seen, expires, calm, slack, p, i, x, start, stop, used, newest, booked, behind =
      struct.unpack(FIXED_HEAD, data)
    taken = letter == FIXED_KIND and version == VERSION and p == permits and i == interval and x == extra
      and now >= calm and seen >= 0 and seen <= now and epoch >= forgotten and expires >= 0
      and start >= 0 and stop >= 0 and used >= 0 and newest >= 0 and booked >= 0
      and epoch + expires + start + stop + used + newest + booked < 2 ^ 60
    if taken and expires <= now then
      fresh, taken, forgotten = true, false, math.max(forgotten, epoch + 1)
    else
      taken = taken and (known == 0 or known == epoch) and used > 0 and used + asked <= permits and start <= at and at < stop
        and edge <= now
      if #data >= behind then rest = string.sub(data, behind) end
    end
  end
  if fresh and asked <= permits and edge <= now then
    taken, epoch, calm, expires, slack, rest = true, math.max(forgotten, us), 0, 0, -1, ''
    start = extra == 1 and edge or at
    stop, used, newest, booked = start + interval, asked, at, at > now and asked or 0
  elseif taken then
    used = used + asked
    if at > now then booked = (newest > now and booked or 0) + asked end
    newest = at > newest and at or newest
  end
  full, left = stop, used and permits - used
  if taken then
    local till = full > expires and full or expires
    slack = slack - (till - expires)
    if slack < 0 then
      slack = math.min(till - now, 4294967295)
      renewed = till - now + slack
    end
    taken = struct.pack(FIXED_HEAD, FIXED_KIND, VERSION, epoch, now, till, calm, slack, permits, interval, extra, start, stop, used,
      newest, booked) .. rest
  end
end
