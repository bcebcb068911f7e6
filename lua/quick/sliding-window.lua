-- @include "heads/sliding-window"

-- The fast path of lua/limits/sliding-window.lua.

local pushed, lengthBefore
if kind == WINDOW_KIND then
  -- The format of the head and of the kind's numbers, and the bytes before the text.
  local NUMBERS, TEXT_AT = '<BBI7I6I6I6I6I7I6I7I6BI6I7I7I7', 87
  local letter, version, total, newest, openCount, openTime, entries, purged
  local behind = TEXT_AT + #text + 1
  if not fresh and #data >= TEXT_AT then
    letter, version, epoch, calm, kept, seen, expires, total, newest, openCount, openTime, entries, purged, permits, interval, extra =
      struct.unpack(NUMBERS, data)
    -- @inline "quick/check"
    local oldest, gone = openTime, now - interval
    if taken and entries == IN_LIST then
      taken = #data >= behind + ENTRY_SIZE - 1
      if taken then oldest, lengthBefore = struct.unpack(ENTRY, data, behind) end
    elseif taken and entries > 0 then
      taken = entries <= MOST_INLINE and #data >= behind + entries * ENTRY_SIZE - 1
      if taken then oldest = struct.unpack('<I6', data, behind) end
    end
    -- The slow path removes expired entries. It is needed for any of them if the count must be exact,
    -- otherwise for those that expired more than an eighth of the interval ago.
    taken = taken and total + asked <= permits and newest <= at and openTime > gone
      and oldest > (exact and gone or gone - interval / 8)
    if taken then
      total = total + asked
      if at > newest then newest = at end
      local slot = at + -at % extra
      if slot <= openTime then
        openCount = openCount + asked
      else
        if entries == IN_LIST and lengthBefore < MOST_ENTRIES - 1 then
          pushed, added = struct.pack('<dd', openTime, openCount), struct.pack(ENTRY, oldest, lengthBefore + 1)
          place, after = behind, behind + ENTRY_SIZE
        elseif entries < MOST_INLINE and openCount < COUNT_BOUND then
          added, place = struct.pack(ENTRY, openTime, openCount), behind + entries * ENTRY_SIZE
          after, entries = place, entries + 1
        else
          taken = false
        end
        openTime, openCount = slot, asked
      end
    end
  end
  if fresh and asked <= permits then
    taken, epoch = true, forgotten > us and forgotten or us
    total, newest, openTime, openCount, entries, purged = asked, at, at + -at % extra, asked, 0, 0
  end
  if taken then
    full, left = openTime + interval, permits - total
    taken = full < TIME_BOUND
  end
  if taken then
    -- @inline "quick/renew"
    if renewed then
      taken = struct.pack(NUMBERS, kind, VERSION, epoch, calm, kept, now, till, total, newest, openCount, openTime, entries,
        purged, permits, interval, extra)
    else
      taken = struct.pack('<I6I6I7I6I7I6B', now, till, total, newest, openCount, openTime, entries)
    end
  end
end
