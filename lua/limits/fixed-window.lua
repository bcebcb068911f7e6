-- The fixed window: the last window in use; earlier ones are past or full. The twin of src/limits/fixedWindow.ts.

local fixedWindow = {}

function fixedWindow.create(spec)
  return { kind = 'f', permits = spec[3], interval = spec[4], epoch = spec[5], start = 0, used = 0, shift = 0 }
end

function fixedWindow.unpack(data, position)
  local state = { kind = 'f' }
  state.permits, state.interval, state.epoch, state.start, state.used, state.shift, position =
    struct.unpack('<dddddd', data, position)
  return state, position
end

function fixedWindow.pack(state)
  return struct.pack('<dddddd', state.permits, state.interval, state.epoch, state.start, state.used, state.shift)
end

-- When the next window may start. After a step of the clock a window lies across the grid: the next one waits for the grid.
local function endOf(state)
  local stop = state.start
  if state.used > 0 then stop = stop + state.interval end
  if state.epoch == 0 then return stop end
  return math.ceil((stop - state.shift) / state.interval) * state.interval + state.shift
end

function fixedWindow.roll(state, now, shift)
  state.shift = shift
  if now >= endOf(state) then state.used = 0 end
end

function fixedWindow.earliest(state, now, at, n)
  local stop = endOf(state)
  if now >= stop then return now end
  if state.used > 0 and state.used + n <= state.permits then
    if state.start <= at then return now end
    return state.start
  end
  if state.used == 0 and stop <= at then return now end
  return stop
end

function fixedWindow.fit(state, now, t, n)
  local used = 0
  if t < endOf(state) then used = state.used end
  return math.floor((state.permits - used) / n)
end

function fixedWindow.commit(state, now, t, n)
  if state.used == 0 or t >= endOf(state) then
    state.start, state.used = t, 0
    if state.epoch == 1 then
      state.start = math.floor((t - state.shift) / state.interval) * state.interval + state.shift
    end
  end
  state.used = state.used + n
end

function fixedWindow.refund(state, now, t, n)
  if t >= state.start and t < endOf(state) then state.used = state.used - math.min(n, state.used) end
end

function fixedWindow.available(state, now, at)
  local stop = endOf(state)
  if now >= stop then return state.permits end
  local open = state.start
  if state.used == 0 then open = stop end
  if open > at then return 0 end
  return math.max(0, state.permits - state.used)
end

function fixedWindow.full(state, now)
  return math.max(now, endOf(state))
end

function fixedWindow.adopt(state, spec)
  state.permits, state.interval, state.epoch = spec[3], spec[4], spec[5]
end

function fixedWindow.taken(state)
  return state.used, state.start
end

function fixedWindow.save() end
