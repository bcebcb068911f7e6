-- Permits that are free in fixed windows ahead of reservations. The twin of src/limits/fixedGap.ts.

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
function algebra.freeBefore(state, t, n, at)
  local earlier = state.earlier
  if #earlier >= MOST_EARLIER or #earlier == 0 then return math.huge end
  -- An aligned window opens at its first millisecond, not at the fraction before it.
  if state.epoch == 1 and startAt(state, at) > t then t = at end
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
