-- The fixed window: the last window in use; earlier ones are past or full. The twin of src/limits/fixedWindow.ts.
--
-- A function that makes the functions of the limit, so that a script makes only those of the limits that it meets.

local function fixedWindow()
  local function create(spec)
    return {
      kind = 'f', permits = spec[3], interval = spec[4], epoch = spec[5], start = 0, stop = 0, used = 0, newest = 0,
      booked = 0, shift = 0,
    }
  end

  local function decode(data, position)
    local permits, interval, epoch, start, stop, used, newest, booked, shift, after =
      struct.unpack('<ddddddddd', data, position)
    return {
      kind = 'f', permits = permits, interval = interval, epoch = epoch, start = start, stop = stop, used = used,
      newest = newest, booked = booked, shift = shift,
    }, after
  end

  local function encode(state)
    return struct.pack('<ddddddddd', state.permits, state.interval, state.epoch, state.start, state.stop, state.used,
      state.newest, state.booked, state.shift)
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
      state.start, state.used, state.booked = t, 0, 0
      if state.epoch == 1 then state.start = alignDown(state, t) end
      state.stop = state.start + state.interval
    end
    state.used = state.used + n
    if t > now then state.booked = (state.newest > now and state.booked or 0) + n end
    state.newest = math.max(state.newest, t)
  end

  local function refund(state, now, t, n)
    if t < state.start or t >= state.stop then return 0 end
    local back = math.min(n, state.used)
    state.used = state.used - back
    if t > now then state.booked = math.max(0, state.booked - n) end
    -- An empty window is no window: the next may start where it did.
    if state.used == 0 then state.stop = state.start end
    return back
  end

  local function release(state, now, at, n)
    if now >= state.stop or state.start > at then return 0 end
    local granted = state.used
    -- Which of them have come since is not known: while any is booked, all that were booked with it are left.
    if state.newest > at then granted = math.max(0, state.used - state.booked) end
    local back = math.min(n, granted)
    state.used = state.used - back
    if state.used == 0 then state.stop = state.start end
    return back
  end

  -- Forgets the windows that begin after a moment: the one before them is taken to be full.
  local function cut(state, now, after)
    local edge = state.start
    if state.used == 0 then edge = state.stop end
    if edge <= after then return end
    state.start = edge - math.ceil((edge - after) / state.interval) * state.interval
    state.stop = state.start + state.interval
    state.used, state.newest, state.booked = state.permits, after, state.permits
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
    commit = commit, refund = refund, release = release, cut = cut, available = available, full = full, adopt = adopt, taken = taken, save = save,
  }
end
