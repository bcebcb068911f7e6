-- @include "heads/fixed-window"

-- The fast path of lua/limits/fixed-window.lua.

if kind == FIXED_KIND then
  -- The format of the head and of the kind's numbers, and its size.
  local SMALL, SMALL_SIZE = '<BBdddI6I4dddddddd', 100
  local letter, version, p, i, x, start, stop, used, newest, reserved, behind
  -- An aligned window opens at its first millisecond, not at the fraction before it.
  local rest, edge = '', extra == 1 and math.floor(at / interval) * interval or now
  if not fresh and #data >= SMALL_SIZE then
    letter, version, epoch, seen, expires, calm, slack, p, i, x, start, stop, used, newest, reserved, behind =
      struct.unpack(SMALL, data)
    -- @inline "quick/check"
    taken = taken and start >= 0 and stop >= 0 and used >= 0 and newest >= 0 and reserved >= 0
      and start + stop + used + newest + reserved < 2 ^ 60
    if taken and expires <= now then
      fresh, taken, forgotten, expires, calm, slack = true, false, math.max(forgotten, epoch + 1), 0, 0, -1
    else
      taken = taken and used > 0 and used + asked <= permits and start <= at and at < stop
        and edge <= now
      if #data >= behind then rest = string.sub(data, behind) end
    end
  end
  if fresh and asked <= permits and edge <= now then
    taken, epoch, rest = true, math.max(forgotten, us), ''
    start = extra == 1 and edge or at
    stop, used, newest, reserved = start + interval, asked, at, at > now and asked or 0
  elseif taken then
    used = used + asked
    if at > now then reserved = (newest > now and reserved or 0) + asked end
    newest = at > newest and at or newest
  end
  full, left = stop, used and permits - used
  if taken then
    -- @inline "quick/renew"
    taken = struct.pack(SMALL, kind, VERSION, epoch, now, till, calm, slack, permits, interval, extra, start, stop,
      used, newest, reserved) .. rest
  end
end
