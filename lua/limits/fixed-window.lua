-- @include "limits/fixed-window/format"

-- The fixed window. The state holds the last window in use, and in `earlier` those before it, from the last to the first. Nothing
-- is granted or reserved between two of them. All others are past or full; `most` is the most permits in one of these that is not
-- past, if that may be more than the limit, otherwise 0. The twin of src/limits/fixedWindow.ts.
--
-- A function that creates the functions of this limit, so that a script creates only those of the kinds it needs.

local function fixedWindow()
  local algebra = fixedFormat()

  -- @inline "limits/fixed-window/windows"
  -- @inline "limits/fixed-window/gaps"

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
