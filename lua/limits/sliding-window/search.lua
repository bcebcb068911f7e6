-- Searches in the log of a sliding window: when permits are free, and how many.

local function slidingSearch(entry, lengthOf)
  -- The most entries ahead that are examined for a gap, and the most of the oldest ones.
  local GAP_LIMIT = 256

  -- Sets the start of the search to the first entry that may stay for a request, found from the newest entry on:
  -- the entries from there on leave room for the request.
  local function searchBack(state, room)
    local index, kept, len = lengthOf(state), 0, state.len
    while index > 0 do
      local _, count = entry(state, index - 1)
      if state.len ~= len then return end
      if kept + count > room then break end
      index, kept = index - 1, kept + count
    end
    state.needAt, state.needed = index, state.total - kept
  end

  local function earliest(state, now, at, n, isClear)
    local room = state.permits - n
    -- With many reservations ahead, most entries have to expire.
    if state.needAt == 0 and state.total - room > room then searchBack(state, room) end
    local index, needed, len, time, count = state.needAt, state.needed, state.len, nil, nil
    local spare = room - state.total
    -- A smaller request may need fewer entries to expire than the last one.
    while index > 0 do
      time, count = entry(state, index - 1)
      if state.len ~= len then return earliest(state, now, at, n, isClear) end
      if needed - count + spare < 0 then break end
      index, needed = index - 1, needed - count
    end
    while needed + spare < 0 do
      local later, more = entry(state, index)
      if state.len ~= len then return earliest(state, now, at, n, isClear) end
      if not later then break end
      time, needed, index = later, needed + more, index + 1
    end
    state.needAt, state.needed = index, needed
    local free = index > 0 and time + state.interval or now
    -- The log grows at its end only, and no request overtakes a reservation. If none stands, the newest was refunded.
    if state.newest > at and not isClear then return math.max(free, state.newest) end
    return free
  end

  local function fit(state, now, t, n)
    local gone = t - state.interval
    if state.fitAt == 0 and t > now then
      -- For a moment ahead, the search of `earliest` ended near the first entry that still counts. If it has passed none, as there
      -- are permits for all requests, most of the entries may have expired by then.
      state.fitAt, state.fitted = state.needAt, state.needed
      if state.needAt == 0 and state.oldest <= gone and t >= state.newest then
        state.fitAt, state.fitted = lengthOf(state), state.total
      end
    end
    local index, fitted, len = state.fitAt, state.fitted, state.len
    while index > 0 do
      local time, count = entry(state, index - 1)
      if state.len ~= len then return fit(state, now, t, n) end
      if time <= gone then break end
      index, fitted = index - 1, fitted - count
    end
    -- If the oldest entry still counts, the list is not read.
    while state.oldest <= gone do
      local time, count = entry(state, index)
      if state.len ~= len then return fit(state, now, t, n) end
      if not time or time > gone then break end
      index, fitted = index + 1, fitted + count
    end
    state.fitAt, state.fitted = index, fitted
    return math.floor((state.permits - state.total + fitted) / n)
  end

  -- Whether every window stays within the limit with `n` more permits: the window that ends now, and each
  -- window that ends with a reservation earlier than `before`. Of an entry only the slot is known, so its
  -- grants may lie at the first millisecond of the slot. But `unused` permits of the slot of `before` lie at
  -- `before`, if all slots are of one resolution.
  local function hasGap(state, now, at, n, before, _, unused)
    local taken, length, len = state.total, lengthOf(state), state.len
    local own = state.coarsest == state.resolution and math.ceil(before / state.resolution) * state.resolution
    local ahead = length
    while ahead > 0 do
      local time, count = entry(state, ahead - 1)
      if not time or state.len ~= len then return false end
      if time - state.coarsest < at then break end
      if length - ahead == GAP_LIMIT then return false end
      taken, ahead = taken - count, ahead - 1
    end
    local oldest, finish, index = 0, now, ahead
    while finish < math.min(before, at + state.interval) do
      while oldest < ahead do
        local time, count = entry(state, oldest)
        if not time or state.len ~= len then return false end
        if time > finish - state.interval then break end
        if oldest == GAP_LIMIT then return false end
        taken, oldest = taken - count, oldest + 1
      end
      if not (taken + n <= state.permits) then return false end
      if index == length then return true end
      local time, count = entry(state, index)
      taken, index = taken + count, index + 1
      if time == own then taken = taken - unused end
      finish = time - state.coarsest + 1
    end
    return true
  end

  -- The first moment, `t` or later, at which `n` permits are free ahead of the reservations. math.huge if none is known. All
  -- permits within an interval before or after it count, so that every window stays within the limit.
  local function freeBefore(state, t, n)
    local free, taken, length, len = t, state.total, lengthOf(state), state.len
    local ahead = length
    while ahead > 0 do
      local time, count = entry(state, ahead - 1)
      if not time or state.len ~= len then return math.huge end
      if time - state.coarsest < free + state.interval then break end
      if length - ahead == GAP_LIMIT then return math.huge end
      taken, ahead = taken - count, ahead - 1
    end
    for oldest = 0, math.min(GAP_LIMIT, length) - 1 do
      local time, count = entry(state, oldest)
      if not time or state.len ~= len then return math.huge end
      if taken + n <= state.permits and time > free - state.interval then return free end
      free, taken = math.max(free, time + state.interval), taken - count
      while ahead < length do
        local later, more = entry(state, ahead)
        if not later or state.len ~= len then return math.huge end
        if later - state.coarsest >= free + state.interval then break end
        taken, ahead = taken + more, ahead + 1
      end
    end
    return math.huge
  end

  return earliest, fit, hasGap, freeBefore
end
