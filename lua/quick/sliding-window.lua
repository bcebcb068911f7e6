-- @include "heads/sliding-window"

-- The fast path of lua/limits/sliding-window.lua.

-- The entry to be added to the list, its length before, and its second entry if the first one is to be removed.
local pushed, lengthBefore, second
if kind == WINDOW_KIND then
  -- The format of the head and of the kind's numbers, and the bytes before the text.
  local NUMBERS, TEXT_AT = '<HI7I6I6I6I6I7I6I7I6BI6I7I7I7I7', 94
  local mark, total, newest, openCount, openTime, entries, purged
  local behind = TEXT_AT + #text + 1
  if not fresh and #data >= TEXT_AT then
    mark, epoch, calm, kept, seen, expires, total, newest, openCount, openTime, entries, purged, permits, interval, extra,
      sum = struct.unpack(NUMBERS, data)
    -- @inline "heads/checksum"
    -- @inline "quick/check"
    local oldest, gone, first, last = openTime, now - interval, behind, behind + entries * ENTRY_SIZE
    if taken and entries == IN_LIST then
      last = behind + ENTRY_SIZE
      taken = KEYS[4] and #data >= last - 1
      if taken then oldest, lengthBefore = struct.unpack(ENTRY, data, behind) end
    elseif taken and entries > 0 then
      taken = entries <= MOST_INLINE and #data >= last - 1
      if taken then oldest = struct.unpack('<I6', data, behind) end
    end
    taken = taken and asked <= permits and newest <= at
    if taken and openTime <= gone then
      -- A ledger is kept longer than a short interval.
      taken = entries ~= IN_LIST and #data == last - 1
      if openTime > 0 then purged, first, total, newest, openTime, entries = openTime + 1, last, 0, 0, 0, 0 end
    -- Expired entries may stay in a log, unless the count must be exact, or they expired more than an eighth of the interval ago.
    elseif taken and oldest <= gone and (exact or total + asked > permits or oldest <= gone - interval / 8) then
      if entries == IN_LIST then
        -- The slow path removes more than one entry.
        local pair = redis.pcall('LRANGE', KEYS[4], '0', '1')
        taken = #pair == 2 and #pair[1] == 16 and #pair[2] == 16
        if taken then
          local time, count = struct.unpack('<dd', pair[1])
          purged, oldest, total, second = oldest + 1, struct.unpack('<d', pair[2]), total - count, pair[2]
          taken = time == purged - 1 and count >= 0 and total >= openCount and oldest > gone and oldest < openTime
        end
      else
        while first < last and oldest <= gone do
          local _, count
          _, count, first = struct.unpack(ENTRY, data, first)
          purged, total, entries = oldest + 1, total - count, entries - 1
          oldest = first < last and struct.unpack('<I6', data, first) or openTime
        end
        taken = total >= openCount
      end
    end
    if taken and total + asked > permits then
      -- So many permits have to expire, those of the oldest entries.
      local missing, time, count, from = total + asked - permits, openTime, nil, first
      if oldest <= gone then
        taken = false
      elseif entries == IN_LIST then
        local entry = second or redis.pcall('LRANGE', KEYS[4], '0', '0')[1]
        taken = entry and #entry == 16
        if taken then
          time, count = struct.unpack('<dd', entry)
          taken = time == oldest and count >= missing
        end
      else
        while missing > 0 and from < last do
          time, count, from = struct.unpack(ENTRY, data, from)
          missing = missing - count
        end
        if missing > 0 then time = openTime end
      end
      refused = time + interval
    elseif taken then
      total = total + asked
      if at > newest then newest = at end
      local slot = at + -at % extra
      if slot <= openTime then
        openCount = openCount + asked
      else
        if entries == IN_LIST and lengthBefore < MOST_ENTRIES - 1 then
          pushed = struct.pack('<dd', openTime, openCount)
        elseif entries < MOST_INLINE and openCount < COUNT_BOUND then
          -- An empty log has no open entry.
          if openTime > 0 then added, entries = struct.pack(ENTRY, openTime, openCount), entries + 1 end
        else
          taken = false
        end
        openTime, openCount = slot, asked
      end
    end
    if entries == IN_LIST and (pushed or second) then
      place, after, added = behind, last, struct.pack(ENTRY, oldest, lengthBefore + (pushed and 1 or 0) - (second and 1 or 0))
    elseif first > behind then
      place, after, added = behind, last, data:sub(first, last - 1) .. (added or '')
    else
      place, after = last, last
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
      taken = struct.pack(NUMBERS, kind + 256 * VERSION, epoch, calm, kept, now, till, total, newest, openCount, openTime, entries,
        purged, permits, interval, extra, sum)
    else
      taken = struct.pack('<I6I6I7I6I7I6BI6', now, till, total, newest, openCount, openTime, entries, purged)
    end
  end
end
