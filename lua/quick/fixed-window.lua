-- @include "heads/fixed-window"

-- The fast path of lua/limits/fixed-window.lua.

if kind == FIXED_KIND then
  -- The format of the head and of the kind's numbers, and the bytes before the text.
  local NUMBERS, TEXT_AT = '<HI7I6I6I6I6I7I6I7I6I6I7I7I7I7', 93
  local mark, used, newest, reserved, start, stop
  -- Whether the last window has ended, and nothing is known of another one. A ledger is kept longer than a short interval.
  local opens
  if not fresh and #data >= TEXT_AT then
    mark, epoch, calm, kept, seen, expires, used, newest, reserved, start, stop, permits, interval, extra,
      sum = struct.unpack(NUMBERS, data)
    -- @inline "heads/checksum"
    -- @inline "quick/check"
    opens = taken and now >= stop and #data == TEXT_AT + #text
    taken = taken and used > 0 and asked <= permits and start <= at and at < stop
  end
  -- An aligned window opens at its first millisecond, not at the fraction before it.
  local edge = extra == 1 and math.floor(at / interval) * interval or now
  if (fresh or opens) and asked <= permits and edge <= now then
    if fresh then epoch = forgotten > us and forgotten or us end
    start = extra == 1 and edge or at
    stop, used, newest, reserved = start + interval, asked, at, at > now and asked or 0
    taken = stop < TIME_BOUND
  elseif taken and used + asked > permits then
    -- Reservations that are ahead may move up first.
    taken, refused = newest <= at, stop
  elseif taken and edge <= now then
    used = used + asked
    if at > now then reserved = (newest > now and reserved or 0) + asked end
    if at > newest then newest = at end
  else
    taken = false
  end
  if taken then
    full, left = stop, permits - used
    -- @inline "quick/renew"
    if renewed then
      taken = struct.pack(NUMBERS, kind + 256 * VERSION, epoch, calm, kept, now, till, used, newest, reserved, start, stop, permits,
        interval, extra, sum)
    elseif opens then
      taken = struct.pack('<I6I6I7I6I7I6I6', now, till, used, newest, reserved, start, stop)
    else
      taken = struct.pack('<I6I6I7I6I7', now, till, used, newest, reserved)
    end
  end
end
