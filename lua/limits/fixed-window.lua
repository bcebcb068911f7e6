-- @include "limits/fixed-window/format"

-- The fixed window. The state holds the last window in use and the one in use before it.
-- Nothing is granted or reserved between these two. All earlier windows are past or full; `most0` is the most permits in one of
-- them that is not past, if that may be more than the limit, otherwise 0.
-- The twin of src/limits/fixedWindow.ts.
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

  -- The start of a window that is opened at `t`.
  local function startAt(state, t)
    return state.epoch == 1 and alignDown(state, t) or t
  end

  -- Whether another window, opened at `t`, fits before the last one, after a past one. A new state has none: grants that were made
  -- under another limit are put into its first window, whatever their moments.
  local function hasRoom(state, t)
    return state.start0 > 0 and startAt(state, t) + state.interval <= state.start
  end

  -- Forgets the window before the last if it is past, unless another one fits between the two.
  local function forgetPast(state, now, mayFit)
    if now >= state.stop0 and not (mayFit and hasRoom(state, now)) then
      state.start0, state.stop0, state.used0, state.newest0, state.reserved0, state.most0 = 0, 0, 0, 0, 0, 0
    end
  end

  function algebra.roll(state, now, shift)
    state.shift = shift
    -- After a step of the clock, a window may be off the grid. The next one starts on the grid.
    if state.epoch == 1 then state.stop = alignUp(state, state.stop) end
    forgetPast(state, now, true)
    if now < state.stop then return end
    state.used = 0
    -- After a later step of the clock, no window may start before the present one.
    if state.epoch == 1 then state.stop = alignDown(state, now) end
  end

  -- Forgets the window before the last: it is past or full. If the last window becomes empty, the next one may
  -- start where it did.
  local function forgetBefore(state)
    state.start0, state.stop0, state.used0, state.newest0, state.reserved0 = state.start, state.start, 0, state.newest, 0
  end

  -- The last window has become empty. The one before it becomes the last, unless it has ended.
  local function close(state, now)
    state.start, state.stop, state.used = state.start0, state.stop0, state.used0
    state.newest, state.reserved = state.newest0, state.reserved0
    forgetBefore(state)
    algebra.roll(state, now, state.shift)
  end

  -- Opens a window at the moment `t`.
  local function open(state, now, t)
    if state.used0 > state.permits then state.most0 = math.max(state.most0, state.used0) end
    state.start0, state.stop0, state.used0 = state.start, state.stop, state.used
    state.newest0, state.reserved0 = state.newest, state.reserved
    state.start, state.used, state.reserved = startAt(state, t), 0, 0
    -- Later grants do not come before one that is made now.
    forgetPast(state, now, state.start > now + 1)
    state.stop = state.start + state.interval
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
    -- After a step of the clock or a change of the grid, one of them may be off the grid, and both in one window of the grid.
    if state.epoch == 1
      and (alignDown(state, state.start0) ~= state.start0 or alignDown(state, state.start) ~= state.start) then
      return false
    end
    if state.stop0 <= now then return startAt(state, at) >= state.stop0 and hasRoom(state, at) end
    -- After the interval was shortened, the window may overlap the last one, and moments from the start of
    -- the last one count there.
    local stop = math.min(state.stop0, state.start)
    return state.start0 <= now and at < stop and (before < stop or state.used0 + n <= state.permits)
  end

  function algebra.commit(state, now, t, n)
    -- A grant ahead of the reservations in the last window.
    if state.used > 0 and t < state.start then
      if t >= state.stop0 then
        state.start0 = startAt(state, t)
        state.stop0, state.used0, state.newest0, state.reserved0, state.most0 = state.start0 + state.interval, 0, 0, 0, 0
      end
      state.used0 = state.used0 + n
      if t > now then state.reserved0 = (state.newest0 > now and state.reserved0 or 0) + n end
      state.newest0 = math.max(state.newest0, t)
      return
    end
    if state.used == 0 or t >= state.stop then open(state, now, t) end
    state.used = state.used + n
    if t > now then state.reserved = (state.newest > now and state.reserved or 0) + n end
    state.newest = math.max(state.newest, t)
  end

  function algebra.refund(state, now, t, n)
    if t >= state.start and t <= state.newest then
      local back = math.min(n, state.used)
      state.used = state.used - back
      if t > now then state.reserved = math.max(0, state.reserved - n) end
      if back > 0 and state.used == 0 then close(state, now) end
      return back
    end
    if t < state.start0 or t >= state.start or now >= state.stop0 then return 0 end
    local back = math.min(n, state.used0)
    state.used0 = state.used0 - back
    if t > now then state.reserved0 = math.max(0, state.reserved0 - n) end
    if state.used0 == 0 then state.stop0 = state.start0 end
    return back
  end

  function algebra.release(state, now, at, n)
    local back = 0
    -- The state does not tell which reservations have come due. While one is ahead, all that were made with it
    -- stay reserved.
    if state.start <= at then
      local granted = state.used
      if state.newest > at then granted = math.max(0, state.used - state.reserved) end
      if now < state.stop then back = math.min(n, granted) end
      state.used = state.used - back
      if back > 0 and state.used == 0 then close(state, now) end
      return back
    end
    if now >= state.stop0 or state.start0 > at then return 0 end
    local granted = state.used0
    if state.newest0 > at then granted = math.max(0, state.used0 - state.reserved0) end
    back = math.min(n, granted)
    state.used0 = state.used0 - back
    if state.used0 == 0 then state.stop0 = state.start0 end
    return back
  end

  -- Forgets the windows that start after a moment.
  function algebra.cut(state, now, after)
    if state.used > 0 and state.start > after then close(state, now) end
    -- Later reservations are void, but they still count in a window that began before `after`.
    state.newest = math.min(state.newest, after)
    local edge = edgeOf(state)
    if edge <= after then return end
    -- The window before the forgotten ones counts as full, since how much of it is used is not known. After a lower limit,
    -- it may hold more.
    state.start = edge - math.ceil((edge - after) / state.interval) * state.interval
    -- The forgotten ones may have been off the grid, or apart: a pause or another limit delays windows.
    state.stop = state.epoch == 1 and alignUp(state, state.start + state.interval) or math.min(edge, after + state.interval)
    state.used = math.max(state.permits, state.most0)
    state.newest, state.reserved = after, state.used
    forgetBefore(state)
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
    -- them.
    if state.used > 0 then state.stop = math.max(state.start + state.interval, state.newest + 1) end
    if state.used0 > 0 then state.stop0 = math.max(state.start0 + state.interval, state.newest0 + 1) end
    if state.epoch == 1 then state.stop = alignUp(state, state.stop) end
    return movesGrid
  end

  function algebra.taken(state)
    return state.used, state.newest
  end

  return algebra
end
