-- The fixed window: the last window in use; earlier ones are past or full. The twin of src/limits/fixedWindow.ts.
--
-- A function that makes the functions of the limit, so that a script makes only those of the limits that it meets.

local function fixedWindow()
  local function create(spec)
    return {
      kind = 'f', permits = spec[3], interval = spec[4], epoch = spec[5], start = 0, stop = 0, used = 0, shift = 0,
    }
  end

  local function decode(data, position)
    local permits, interval, epoch, start, stop, used, shift, after = struct.unpack('<ddddddd', data, position)
    return {
      kind = 'f', permits = permits, interval = interval, epoch = epoch, start = start, stop = stop, used = used,
      shift = shift,
    }, after
  end

  local function encode(state)
    return struct.pack('<ddddddd', state.permits, state.interval, state.epoch, state.start, state.stop, state.used,
      state.shift)
  end

  local function alignDown(state, t)
    return math.floor((t - state.shift) / state.interval) * state.interval + state.shift
  end

  local function alignUp(state, t)
    return math.ceil((t - state.shift) / state.interval) * state.interval + state.shift
  end

  local function roll(state, now, shift)
    state.shift = shift
    -- After a step of the clock a window lies across the grid: the next one waits for the grid.
    if state.epoch == 1 then state.stop = alignUp(state, state.stop) end
    if now < state.stop then return end
    state.used = 0
    -- Nor may a window that a later step opens begin before the one of now.
    if state.epoch == 1 then state.stop = alignDown(state, now) end
  end

  local function earliest(state, now, at, n)
    -- A window of the grid opens with its first millisecond, not with the fraction before it.
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

  local function fit(state, now, t, n)
    local used = 0
    if t < state.stop then used = state.used end
    return math.floor((state.permits - used) / n)
  end

  local function commit(state, now, t, n)
    if state.used == 0 or t >= state.stop then
      state.start, state.used = t, 0
      if state.epoch == 1 then state.start = alignDown(state, t) end
      state.stop = state.start + state.interval
    end
    state.used = state.used + n
  end

  local function refund(state, now, t, n)
    if t < state.start or t >= state.stop then return end
    state.used = state.used - math.min(n, state.used)
    -- An empty window is no window: the next may start where it did.
    if state.used == 0 then state.stop = state.start end
  end

  local function available(state, now, at)
    if now >= state.stop then return state.permits end
    local open = state.start
    if state.used == 0 then open = state.stop end
    if open > at then return 0 end
    return math.max(0, state.permits - state.used)
  end

  local function full(state, now)
    return math.max(now, state.stop)
  end

  local function adopt(state, spec)
    state.permits, state.interval, state.epoch = spec[3], spec[4], spec[5]
    if state.used > 0 then state.stop = state.start + state.interval end
    if state.epoch == 1 then state.stop = alignUp(state, state.stop) end
  end

  local function taken(state)
    return state.used, state.start
  end

  local function save() end

  return {
    create = create, decode = decode, encode = encode, roll = roll, earliest = earliest, fit = fit,
    commit = commit, refund = refund, available = available, full = full, adopt = adopt, taken = taken, save = save,
  }
end
