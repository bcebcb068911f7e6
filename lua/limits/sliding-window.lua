-- The sliding window: a log of (time, count), one entry per resolution. The twin of src/limits/slidingWindow.ts.
--
-- The newest entry is kept open in the state; those before it lie in a list, each as two doubles. The list is read in
-- chunks, as far as the question needs, and written once at the end.
--
-- A function that makes the functions of the limit, so that a script makes only those of the limits that it meets.

local function slidingWindow()
  local CHUNK = 16
  local PURGE_LIMIT = 1024
  local POP_LIMIT = 64
  local RELEASE_LIMIT = 1024

  local function create(spec, log)
    redis.call('DEL', log)
    return {
      kind = 's', permits = spec[3], interval = spec[4], resolution = spec[5],
      coarsest = spec[5], total = 0, newest = 0, oldest = 0, len = 0, openTime = 0, openCount = 0,
      log = log, times = {}, counts = {}, pushed = {},
    }
  end

  local function decode(data, position, log)
    local permits, interval, resolution, coarsest, total, newest, oldest, len, openTime, openCount, after =
      struct.unpack('<dddddddddd', data, position)
    return {
      kind = 's', permits = permits, interval = interval, resolution = resolution, coarsest = coarsest,
      total = total, newest = newest, oldest = oldest, len = len, openTime = openTime, openCount = openCount,
      log = log, times = {}, counts = {}, pushed = {},
    }, after
  end

  local function encode(state)
    return struct.pack('<dddddddddd', state.permits, state.interval, state.resolution, state.coarsest, state.total,
      state.newest, state.oldest, state.len, state.openTime, state.openCount)
  end

  local function slotOf(state, t)
    return math.ceil(t / state.resolution) * state.resolution
  end

  local function clear(state)
    state.coarsest = state.resolution
    state.total, state.newest, state.oldest, state.len, state.openTime, state.openCount = 0, 0, 0, 0, 0, 0
    state.times, state.counts, state.pushed = {}, {}, {}
  end

  -- The entry at an index from the oldest on: its time and count, or nothing after the last.
  local function entry(state, index)
    if index < state.len then
      if not state.times[index] then
        local from = index - index % CHUNK
        local chunk = redis.call('LRANGE', state.log, from, from + CHUNK - 1)
        for i = 1, #chunk do
          state.times[from + i - 1], state.counts[from + i - 1] = struct.unpack('<dd', chunk[i])
        end
        -- The list was taken from under us: what is left is what the state itself knows.
        if not state.times[index] then
          state.len, state.total = 0, state.openCount
          return nil
        end
      end
      return state.times[index], state.counts[index]
    end
    local later = state.pushed[index - state.len + 1]
    if later then return later[1], later[2] end
    if index == state.len + #state.pushed and state.openTime > 0 then return state.openTime, state.openCount end
    return nil
  end

  local function roll(state, now)
    local gone = now - state.interval
    if state.openTime > 0 and state.openTime <= gone then
      if state.len > 0 then redis.call('DEL', state.log) end
      clear(state)
      return
    end
    if state.len == 0 or state.oldest > gone then return end
    local dropped = 0
    while dropped < PURGE_LIMIT and dropped < state.len do
      local time, count = entry(state, dropped)
      if not time or time > gone then break end
      state.total = state.total - count
      dropped = dropped + 1
    end
    if state.len == 0 then return end
    state.oldest = entry(state, dropped) or 0
    redis.call('LTRIM', state.log, dropped, -1)
    state.len = state.len - dropped
    state.times, state.counts = {}, {}
  end

  local function earliest(state, now, at, n)
    local taken, free, index = state.total, now, 0
    while taken + n > state.permits do
      local time, count = entry(state, index)
      if not time then break end
      taken = taken - count
      free = time + state.interval
      index = index + 1
    end
    -- The log only grows at its end, and nobody passes those who are booked.
    if state.newest > at then return math.max(free, state.newest) end
    return free
  end

  local function fit(state, now, t, n)
    local taken, index = state.total, 0
    -- Where the oldest still counts, the list need not be read.
    while state.oldest <= t - state.interval do
      local time, count = entry(state, index)
      if not time or time > t - state.interval then break end
      taken = taken - count
      index = index + 1
    end
    return math.floor((state.permits - taken) / n)
  end

  local function commit(state, now, t, n)
    -- A change of resolution can leave a last slot that lies after this one.
    local slot = math.max(slotOf(state, t), state.openTime)
    if state.openTime == slot then
      state.openCount = state.openCount + n
    else
      if state.openTime > 0 then
        state.pushed[#state.pushed + 1] = { state.openTime, state.openCount }
      else
        state.oldest = slot
      end
      state.openTime, state.openCount = slot, n
    end
    state.total = state.total + n
    state.newest = math.max(state.newest, t)
  end

  -- With the last reservations gone, those that follow need not stand behind them.
  local function dropEmptyEnd(state)
    for _ = 1, POP_LIMIT do
      if state.openTime == 0 or state.openCount > 0 then return end
      if state.len == 0 then
        state.openTime, state.newest = 0, 0
        return
      end
      local last = state.len - 1
      local time, count = entry(state, last)
      if not time then return end
      redis.call('RPOP', state.log)
      state.times[last], state.counts[last], state.len = nil, nil, last
      state.openTime, state.openCount = time, count
      state.newest = math.min(state.newest, time)
    end
  end

  -- The index of a slot in the list, by halves, or nothing.
  local function find(state, slot)
    local low, high = 0, state.len - 1
    while low <= high do
      local middle = math.floor((low + high) / 2)
      local time = entry(state, middle)
      if not time then return nil end
      if time == slot then return middle end
      if time < slot then low = middle + 1 else high = middle - 1 end
    end
    return nil
  end

  local function refund(state, now, t, n)
    local slot = slotOf(state, t)
    if slot <= now - state.interval then return end
    if slot == state.openTime then
      local back = math.min(n, state.openCount)
      state.openCount, state.total = state.openCount - back, state.total - back
    else
      local index = find(state, slot)
      if not index then return end
      local back = math.min(n, state.counts[index])
      state.counts[index], state.total = state.counts[index] - back, state.total - back
      redis.call('LSET', state.log, index, struct.pack('<dd', slot, state.counts[index]))
    end
    dropEmptyEnd(state)
  end

  -- From the newest entries that hold no reservation.
  local function release(state, now, at, n)
    local limit, looked = at, 0
    if state.newest <= at then limit = math.huge end
    if state.openTime > 0 and state.openTime <= limit then
      local back = math.min(n, state.openCount)
      state.openCount, state.total, n = state.openCount - back, state.total - back, n - back
    end
    for index = state.len - 1, 0, -1 do
      local time, count = entry(state, index)
      looked = looked + 1
      if n == 0 or looked > RELEASE_LIMIT or not time then break end
      if count > 0 and time <= limit then
        local back = math.min(n, count)
        state.counts[index], state.total, n = count - back, state.total - back, n - back
        redis.call('LSET', state.log, index, struct.pack('<dd', time, count - back))
      end
    end
    dropEmptyEnd(state)
  end

  -- Forgets the slots that hold only what is booked for later than `after`.
  local function cut(state, now, after)
    local len = state.len
    -- What is booked for later stands no more, though its slot may have to stay.
    state.newest = math.min(state.newest, after)
    while state.openTime > 0 and state.openTime - state.coarsest >= after do
      state.total = state.total - state.openCount
      if len == 0 then
        if state.len > 0 then redis.call('DEL', state.log) end
        return clear(state)
      end
      len = len - 1
      local time, count = entry(state, len)
      if not time then return end
      state.openTime, state.openCount = time, count
      state.newest = math.min(state.newest, time)
    end
    if len == state.len then return end
    if len == 0 then redis.call('DEL', state.log) else redis.call('LTRIM', state.log, 0, len - 1) end
    state.len = len
  end

  local function available(state, now, at)
    if state.newest > at then return 0 end
    return math.max(0, fit(state, now, now, 1))
  end

  local function full(state, now)
    if state.openTime == 0 then return now end
    return math.max(now, state.openTime + state.interval)
  end

  local function adopt(state, spec)
    state.permits, state.interval, state.resolution = spec[3], spec[4], spec[5]
    state.coarsest = math.max(state.coarsest, state.resolution)
    state.stretched = state.len > 0
  end

  local function taken(state)
    return state.total, state.newest
  end

  -- Writes what was pushed, and lets the list live as long as its newest entry counts.
  local function save(state, now)
    local from = 1
    while from <= #state.pushed do
      local packed = {}
      for i = from, math.min(#state.pushed, from + 999) do
        packed[#packed + 1] = struct.pack('<dd', state.pushed[i][1], state.pushed[i][2])
      end
      redis.call('RPUSH', state.log, unpack(packed))
      from = from + 1000
    end
    if from == 1 and not state.stretched then return end
    redis.call('PEXPIRE', state.log, string.format('%.0f', math.max(1, state.openTime + state.interval - now)))
    state.len = state.len + #state.pushed
  end

  return {
    create = create, decode = decode, encode = encode, roll = roll, earliest = earliest, fit = fit,
    commit = commit, refund = refund, release = release, cut = cut, available = available, full = full, adopt = adopt, taken = taken, save = save,
  }
end
