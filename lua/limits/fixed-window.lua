-- @include "limits/fixed-window/format"

-- The fixed window. The state holds the last window in use, and in `earlier` those before it, from the last to the first. Nothing
-- is granted or reserved between two of them. All others are past or full; `most` is the most permits in one of these that is not
-- past, if that may be more than the limit, otherwise 0. The twin of src/limits/fixedWindow.ts.
--
-- A function that creates the functions of this limit, so that a script creates only those of the kinds it needs.

local function fixedWindow()
  local algebra = fixedFormat()

  local function alignDown(state, t)
    return math.floor((t - state.shift) / state.interval) * state.interval + state.shift
  end

  local function alignUp(state, t)
    return math.ceil((t - state.shift) / state.interval) * state.interval + state.shift
  end

  -- After a step of the clock, a window may be off the grid. The next one starts on the grid.
  local function toGrid(state)
    if state.epoch == 1 and state.used > 0 then state.stop = alignUp(state, state.stop) end
  end

  -- The start of a window that is opened at `t`.
  local function startAt(state, t)
    return state.epoch == 1 and alignDown(state, t) or t
  end

  -- Whether `n` permits are free at `t` after the earlier window at a place, which is past, and before the next one: in a window of
  -- their own, or, off the grid, in the next one if that starts at `t` instead, as long as its reservations are less than an
  -- interval ahead. A new state has no past window: grants that were made under another limit are put into its first one, whatever
  -- their moments.
  local function hasRoomBetween(state, place, t, n)
    local earlier, start = state.earlier, startAt(state, t)
    local past, after, stop = earlier[place], earlier[place - 1] or state, start + state.interval
    if past.newest == 0 or start < past.stop then return false end
    if stop <= after.start then return true end
    -- After the interval was made longer, windows may overlap.
    local later = earlier[place - 2] or state
    local isLast = place == 1 or stop <= later.start
    return state.epoch == 0 and isLast and after.newest < stop and after.used + n <= state.permits
  end

  -- Whether two windows start on the grid, if there is one. After a step of the clock or a change of the grid, one may be off it.
  local function areOnGrid(state, one, other)
    return startAt(state, one.start) == one.start and startAt(state, other.start) == other.start
  end

  -- The place of the last of the earlier windows that starts at `t` or before, and the window after it.
  local function placeOf(state, t)
    local place, after = 1, state
    while state.earlier[place] and state.earlier[place].start > t do
      place, after = place + 1, state.earlier[place]
    end
    return place, after
  end

  -- Forgets the earlier windows from a place on.
  local function forgetFrom(state, place)
    for i = #state.earlier, place, -1 do state.earlier[i] = nil end
  end

  -- Forgets the past windows, except the last of them if more may be granted between it and the next. After a step of the clock,
  -- one that has ended may overlap the present window of the grid, and is not past.
  local function forgetPast(state, now)
    local place, after, present = 1, state, startAt(state, now)
    while state.earlier[place] and present < state.earlier[place].stop do
      place, after = place + 1, state.earlier[place]
    end
    local past = state.earlier[place]
    if past then state.most = 0 end
    -- What is granted in this millisecond may be recorded at its end.
    if past and startAt(state, now + 1) < after.start then place = place + 1 end
    forgetFrom(state, place)
  end

  function algebra.roll(state, now, shift)
    state.shift = shift
    toGrid(state)
    forgetPast(state, now)
    if now >= state.stop then
      -- After a later step of the clock, no window may start before this one has ended.
      if state.epoch == 1 and state.used > 0 then state.start = state.stop end
      state.used, state.most = 0, 0
    end
    if state.epoch == 1 and state.used == 0 then
      state.stop = math.max(alignDown(state, now), state.newest > 0 and alignUp(state, state.start) or 0)
    end
  end

  -- Stands for the forgotten windows before one, which are past or full: once that one is empty, the next one may start where it
  -- did.
  local function fullBefore(window)
    return { start = window.start, stop = window.start, used = 0, newest = window.newest, reserved = 0 }
  end

  -- Forgets the earliest windows if there are too many.
  local function forgetMany(state)
    local earlier = state.earlier
    if #earlier <= MOST_EARLIER then return end
    local used = math.max(earlier[MOST_EARLIER].used, earlier[MOST_EARLIER + 1].used)
    if used > state.permits then state.most = math.max(state.most, used) end
    earlier[MOST_EARLIER] = fullBefore(earlier[MOST_EARLIER - 1])
    forgetFrom(state, MOST_EARLIER + 1)
  end

  -- The last window has become empty. The last one before it that is in use takes its place, unless it has ended. If none is known,
  -- those before it ended before the present one.
  local function close(state, now)
    local earlier, place = state.earlier, 1
    while earlier[place + 1] and earlier[place].used == 0 do place = place + 1 end
    local before = earlier[place] or fullBefore({ start = startAt(state, now), newest = now })
    for _ = 1, math.min(place, #earlier) do table.remove(earlier, 1) end
    state.start, state.stop, state.used = before.start, before.stop, before.used
    state.newest, state.reserved = before.newest, before.reserved
    if state.used == 0 then state.stop = state.start end
    algebra.roll(state, now, state.shift)
  end

  -- Opens a window at the moment `t`.
  local function open(state, now, t)
    table.insert(state.earlier, 1, {
      start = state.start, stop = state.stop, used = state.used, newest = state.newest, reserved = state.reserved,
    })
    state.start, state.used, state.reserved = startAt(state, t), 0, 0
    state.stop = state.start + state.interval
    forgetPast(state, now)
    forgetMany(state)
  end

  -- The start of the last window if it is in use, otherwise the earliest start of the next one.
  local function edgeOf(state)
    if state.used > 0 then return state.start end
    return state.stop
  end

  function algebra.earliest(state, now, at, n)
    -- An aligned window opens at its first millisecond, not at the fraction before it.
    local soonest = now
    if state.epoch == 1 and alignDown(state, at) > now then soonest = at end
    if soonest >= state.stop then return soonest end
    if state.used > 0 and state.used + n <= state.permits then
      if state.start <= at then return soonest end
      return state.start
    end
    if state.used == 0 and state.stop <= at then return soonest end
    return state.stop
  end

  function algebra.fit(state, now, t, n)
    return math.floor((state.permits - (t < state.stop and state.used or 0)) / n)
  end

  function algebra.hasGap(state, now, at, n, before)
    if state.used == 0 and now >= state.stop then return true end
    if state.used > 0 and state.start <= now then
      return at < state.stop and (before < state.stop or state.used + n <= state.permits)
    end
    local place, after = placeOf(state, now)
    local window = state.earlier[place]
    if not window then return false end
    -- Off the grid, both may be in one window of it.
    if not areOnGrid(state, window, after) then return false end
    if window.stop <= now then return hasRoomBetween(state, place, at, n) end
    -- After the interval was made longer, windows with reservations overlap. Until the next one starts, this one is shorter than
    -- the interval, so all permits of both would be too many.
    local stop = window.stop
    return stop <= after.start and at < stop and (before < stop or window.used + n <= state.permits)
  end

  -- The first moment, `t` or later, at which `n` permits are free ahead of the last window: in one before it, or in a new one that
  -- fits between two. math.huge if none is known.
  function algebra.freeBefore(state, t, n)
    local earlier = state.earlier
    if #earlier >= MOST_EARLIER or #earlier == 0 then return math.huge end
    local free = math.max(t, earlier[#earlier].start)
    for i = #earlier, 1, -1 do
      local window, after = earlier[i], earlier[i - 1] or state
      if after.start > free then
        -- After a change of the limit, they may overlap.
        if window.stop > after.start or not areOnGrid(state, window, after) then return math.huge end
        if free < window.stop and window.used + n <= state.permits then return free end
        free = math.max(free, window.stop)
        if hasRoomBetween(state, i, free, n) then return free end
        free = after.start
      end
    end
    return math.huge
  end

  -- The window of a grant at `t`, before the last one. Between two others, of which the first one is past at `t`, one is opened, or
  -- if there is no room for it, the second one starts at `t`.
  local function windowBefore(state, now, t)
    local place, after = placeOf(state, t)
    place = math.min(place, #state.earlier)
    if t >= state.earlier[place].stop then
      local start = startAt(state, t)
      if start + state.interval > after.start and state.epoch == 0 then
        after.start, after.stop = start, start + state.interval
        return after
      end
      if state.earlier[place].stop <= now then forgetFrom(state, place) end
      table.insert(state.earlier, place, {
        start = start, stop = start + state.interval, used = 0, newest = 0, reserved = 0,
      })
    end
    return state.earlier[place]
  end

  function algebra.commit(state, now, t, n)
    local window = state
    if state.used > 0 and t < state.start and state.earlier[1] then
      -- A grant ahead of the reservations in later windows.
      window = windowBefore(state, now, t)
    elseif state.used == 0 or t >= state.stop then
      open(state, now, t)
    end
    window.used = window.used + n
    if t > now then window.reserved = (window.newest > now and window.reserved or 0) + n end
    window.newest = math.max(window.newest, t)
  end

  -- Takes up to `n` permits granted at `t` out of a window. Returns how many.
  local function take(state, window, now, t, n)
    local back = math.min(n, window.used)
    window.used = window.used - back
    if t > now then window.reserved = math.max(0, window.reserved - n) end
    if window == state and back > 0 and window.used == 0 then close(state, now) end
    return back
  end

  function algebra.refund(state, now, t, n)
    if t >= state.start then return t <= state.newest and take(state, state, now, t, n) or 0 end
    local window = state.earlier[(placeOf(state, t))]
    if not window or now >= window.stop then return 0 end
    return take(state, window, now, t, n)
  end

  function algebra.release(state, now, at, n)
    local window = state
    if state.start > at then window = state.earlier[(placeOf(state, at))] end
    if not window or now >= window.stop then return 0 end
    -- The state does not tell which reservations have come due. While one is ahead, all that were made with it
    -- stay reserved.
    local granted = window.used
    if window.newest > at then granted = math.max(0, window.used - window.reserved) end
    return take(state, window, now, now, math.min(n, granted))
  end

  -- Forgets the windows that start after a moment.
  function algebra.cut(state, now, after)
    local back = 0
    while state.used > 0 and state.start > after do
      back = back + state.used
      close(state, now)
    end
    -- Later reservations are void, but they still count in a window that began before `after`.
    state.newest = math.min(state.newest, after)
    local edge = edgeOf(state)
    if edge <= after then return back end
    -- The window before the forgotten ones counts as full, since how much of it is used is not known. After a lower limit,
    -- it may hold more.
    local forgotten = math.ceil((edge - after) / state.interval)
    state.start = edge - forgotten * state.interval
    -- The forgotten ones may have been off the grid, or apart: a pause or another limit delays windows.
    state.stop = state.epoch == 1 and alignUp(state, state.start + state.interval) or math.min(edge, after + state.interval)
    state.used = math.max(state.permits, state.most)
    state.newest, state.reserved = after, state.used
    state.earlier = { fullBefore(state) }
    return back + (forgotten - 1) * state.permits
  end

  function algebra.available(state, _now, at)
    if edgeOf(state) > at then return 0 end
    return math.max(0, state.permits - state.used)
  end

  function algebra.full(state, now)
    return math.max(now, state.stop)
  end

  function algebra.adopt(state, spec)
    local movesGrid = spec[5] == 1 and (spec[4] ~= state.interval or state.epoch ~= 1)
    state.permits, state.interval, state.epoch = spec[3], spec[4], spec[5]
    -- Earlier grants count in the window in which they were made, so the next one starts after the newest of
    -- them. An empty one between others lasts as long. Those of an empty last one have expired.
    local function lengthen(window)
      window.stop = math.max(window.start + state.interval, window.newest + 1)
    end
    lengthen(state)
    for _, window in ipairs(state.earlier) do lengthen(window) end
    if state.used == 0 then state.newest, state.stop = 0, 0 end
    toGrid(state)
    return movesGrid
  end

  function algebra.taken(state)
    return state.used, state.newest
  end

  return algebra
end
