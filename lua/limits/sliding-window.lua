-- @include "limits/sliding-window/log"
-- @include "limits/sliding-window/format"
-- @include "limits/sliding-window/search"

-- The sliding window: a log of (time, count), one entry per resolution. The twin of
-- src/limits/slidingWindow.ts.
--
-- A function that creates the functions of this limit, so that a script creates only those of the kinds it
-- needs.

local function slidingWindow()
  local PURGE_LIMIT = 1024
  local POP_LIMIT = 64
  local RELEASE_LIMIT = 1024
  local MOST_CUT = 2048
  -- More changed entries than this are written as new ones, not one by one.
  local MOST_CHANGED = 32

  local attach, clear, entry, lessen, lengthOf, pop, reopen, save, slotUnder = slidingLog()
  local algebra = slidingFormat(attach)
  algebra.earliest, algebra.fit, algebra.hasGap, algebra.freeBefore = slidingSearch(entry, lengthOf)
  algebra.save = save

  -- The time of the entry for a grant at `t`. In a long log, new entries are a thousandth of the interval apart.
  local function slotOf(state, t)
    local slot = math.ceil(t / state.resolution) * state.resolution
    if lengthOf(state) < MOST_ENTRIES or (slot <= state.openTime and t >= state.newest) then return slot end
    local step = math.max(state.resolution, math.floor(state.interval / 1000))
    state.coarsest = math.max(state.coarsest, step)
    return math.ceil(t / step) * step
  end

  function algebra.roll(state, now)
    if state.under > 0 and slotUnder(state) <= now then state.under = 0 end
    local gone = now - state.interval
    if state.openTime > 0 and state.openTime <= gone then
      state.purged = state.openTime
      clear(state)
      return
    end
    if state.oldest > gone or lengthOf(state) < 2 then return end
    if state.len == 0 then
      local pushed = state.pushed
      while pushed[1] and pushed[1][1] <= gone do
        local first = table.remove(pushed, 1)
        state.total, state.purged = state.total - first[2], first[1]
      end
      state.oldest = pushed[1] and pushed[1][1] or state.openTime
      return
    end
    local dropped = 0
    while dropped < PURGE_LIMIT and dropped < state.len do
      local time, count = entry(state, dropped)
      if not time or time > gone then break end
      state.total, state.purged = state.total - count, time
      dropped = dropped + 1
    end
    if state.len == 0 then return end
    local oldest = entry(state, dropped)
    if not oldest then return end
    state.oldest, state.front, state.len = oldest, state.front + dropped, state.len - dropped
  end

  -- Removes the entries after a slot, so that the open entry is the one of the slot or an earlier one.
  -- Returns the removed entries, the last first.
  local function openBefore(state, slot)
    local behind, newest, under = {}, state.newest, state.under
    while state.openTime > slot do
      behind[#behind + 1] = { state.openTime, state.openCount }
      if not pop(state) then
        -- The open entry holds all permits now, also those of the removed entries, until the newest of these expires.
        local last = behind[1][1]
        state.coarsest = state.coarsest + last - slot
        state.openTime, state.oldest, behind = last, last, {}
        break
      end
    end
    state.newest, state.under = newest, under
    return behind
  end

  local function commitLast(state, slot, n)
    if state.openTime == slot then
      state.openCount = state.openCount + n
      -- A search for more permits than are granted may have passed this entry.
      if state.needAt == lengthOf(state) then state.needed = state.needed + n end
      return
    end
    if state.openTime > 0 then
      state.pushed[#state.pushed + 1] = { state.openTime, state.openCount }
    else
      state.oldest = slot
    end
    state.openTime, state.openCount = slot, n
  end

  function algebra.commit(state, now, t, n)
    local behind, slot = {}, slotOf(state, t)
    if t < state.newest and slot < state.openTime then
      behind = openBefore(state, slot)
      if slot == slotUnder(state) then state.under = math.max(state.under, t) end
    elseif t > now + 1 and state.openTime > 0 and slot > state.openTime and state.openTime - state.coarsest < now then
      -- Only a reservation may be refunded before its moment.
      state.under = state.newest
    end
    -- After a change of resolution, the last slot may be later than this one.
    commitLast(state, math.max(slot, state.openTime), n)
    for i = #behind, 1, -1 do commitLast(state, behind[i][1], behind[i][2]) end
    state.total = state.total + n
    state.newest = math.max(state.newest, t)
  end

  -- Removes empty entries at the end, so that later requests need not wait behind refunded reservations.
  local function dropEmptyEnd(state)
    for _ = 1, POP_LIMIT do
      if state.openTime == 0 or state.openCount > 0 or not pop(state) then return end
    end
  end

  -- The index of the first entry at `t` or later, by binary search. A grant at `t` was recorded in that entry
  -- or an earlier one.
  local function find(state, t)
    local low, high = 0, lengthOf(state)
    while low < high do
      local middle = math.floor((low + high) / 2)
      local time = entry(state, middle, true)
      if not time then return nil end
      if time < t then low = middle + 1 else high = middle end
    end
    return low
  end

  function algebra.refund(state, now, t, n)
    -- If the entry of the grant was removed, `find` would return the entry of another grant.
    if t <= state.purged then return 0 end
    local index = find(state, t)
    if not index then return 0 end
    local time, count = entry(state, index, true)
    if not time or time - t >= state.coarsest or time <= now - state.interval then return 0 end
    local back = math.min(n, count)
    if back > 0 then lessen(state, index, back) end
    dropEmptyEnd(state)
    return back
  end

  -- Takes from the newest entries that hold no reservation.
  function algebra.release(state, now, at, n)
    local limit, left, last = at, n, lengthOf(state) - 1
    local changed, first = 0, last
    if state.newest <= at then limit = math.huge end
    for index = last, math.max(0, last - RELEASE_LIMIT), -1 do
      local time, count = entry(state, index)
      if left == 0 or not time then break end
      if count > 0 and time <= limit then
        local back = math.min(left, count)
        lessen(state, index, back)
        left, changed, first = left - back, changed + 1, index
      end
    end
    if changed > MOST_CHANGED and first < state.len then reopen(state, first) end
    dropEmptyEnd(state)
    return n - left
  end

  -- Forgets the slots that hold only reservations later than `after`.
  function algebra.cut(state, now, after, room)
    local total, isCut = state.total, false
    room = room or {}
    room.entries = room.entries or MOST_CUT
    -- Later reservations are void, but their slot may have to stay.
    state.newest = math.min(state.newest, after)
    for _ = 1, room.entries do
      if state.openTime == 0 or state.openTime - state.coarsest < after then break end
      room.entries = room.entries - 1
      local count = state.openCount
      if not pop(state) then break end
      state.total, isCut = state.total - count, true
    end
    local back = total - state.total
    if isCut and state.openTime == 0 then clear(state) end
    return back
  end

  function algebra.available(state, now, at)
    if state.newest > at then return 0 end
    return math.max(0, algebra.fit(state, now, now, 1))
  end

  function algebra.full(state, now)
    if state.openTime == 0 then return now end
    return math.max(now, state.openTime + state.interval)
  end

  function algebra.adopt(state, spec)
    state.permits, state.interval, state.resolution = spec[3], spec[4], spec[5]
    state.coarsest = math.max(state.coarsest, state.resolution)
    state.under = 0
  end

  function algebra.taken(state)
    return state.total, state.newest
  end

  return algebra
end
