-- The windows of a fixed window that are known, from the last to the first, and the grid of aligned ones. The twin of
-- src/limits/windows.ts.

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
