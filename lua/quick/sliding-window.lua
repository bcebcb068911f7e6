-- @include "heads/sliding-window"

-- The fast path of lua/limits/sliding-window.lua.

local pushed, lengthBefore
if kind == WINDOW_KIND then
  -- The format of the head and of the kind's numbers, and its size.
  local SMALL, SMALL_SIZE = '<BBdddI6I4ddddddddB', 101
  local letter, version, p, i, x, total, newest, purged, openTime, openCount, entries, behind
  local rest, oldest, gone = '', 0, now - interval
  if not fresh and #data >= SMALL_SIZE then
    letter, version, epoch, seen, expires, calm, slack, p, i, x, total, newest, purged, openTime, openCount, entries, behind =
      struct.unpack(SMALL, data)
    -- @inline "quick/check"
    taken = taken and total >= 0 and newest >= 0 and purged >= -1 and openTime >= 0 and openCount >= 0
      and total + newest + purged + openTime + openCount < 2 ^ 60
    if taken and expires <= now then
      fresh, taken, forgotten, expires, calm, slack = true, false, math.max(forgotten, epoch + 1), 0, 0, -1
    elseif taken and entries == IN_LIST then
      taken = #data >= behind + ENTRY_SIZE - 1
      if taken then oldest, lengthBefore = struct.unpack(ENTRY, data, behind) end
    elseif taken and entries > 0 then
      taken = entries <= MOST_INLINE and #data >= behind + entries * ENTRY_SIZE - 1
      if taken then oldest = struct.unpack('<I6', data, behind) end
    else
      oldest = openTime
    end
    -- The slow path removes expired entries. It is needed for any of them if the count must be exact,
    -- otherwise for those that expired more than an eighth of the interval ago.
    taken = taken and total + asked <= permits and newest <= at and openTime > gone
      and oldest > (exact and gone or gone - interval / 8)
  end
  local slot = math.ceil(at / extra) * extra
  if fresh and asked <= permits then
    taken, epoch = true, math.max(forgotten, us)
    total, newest, purged, openTime, openCount, entries = asked, at, -1, slot, asked, 0
  elseif taken then
    total = total + asked
    newest = at > newest and at or newest
    if slot <= openTime then
      openCount = openCount + asked
      if #data >= behind then rest = string.sub(data, behind) end
    elseif entries == IN_LIST and lengthBefore < MOST_ENTRIES - 1 then
      pushed = struct.pack('<dd', openTime, openCount)
      rest = struct.pack(ENTRY, oldest, lengthBefore + 1) .. string.sub(data, behind + ENTRY_SIZE)
      openTime, openCount = slot, asked
    elseif entries < MOST_INLINE and openCount < COUNT_BOUND then
      local stop = behind + entries * ENTRY_SIZE
      rest = string.sub(data, behind, stop - 1) .. struct.pack(ENTRY, openTime, openCount) .. string.sub(data, stop)
      entries, openTime, openCount = entries + 1, slot, asked
    else
      taken = false
    end
  end
  full, left = openTime and openTime + interval, total and permits - total
  taken = taken and full < TIME_BOUND
  if taken then
    -- @inline "quick/renew"
    taken = struct.pack(SMALL, kind, VERSION, epoch, now, till, calm, slack, permits, interval, extra, total, newest,
      purged, openTime, openCount, entries) .. rest
  end
end
