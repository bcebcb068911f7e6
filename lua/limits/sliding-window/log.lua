-- @include "heads/sliding-window"
-- @include "ledger/reading"

-- The log of a sliding window: the newest entry is kept open in the state. The entries before it are in a
-- list, each as two doubles; a few of them are stored in the ledger instead, as `pushed`, and then there is
-- no list. The list is read in chunks, as far as needed.
--
-- Changes are kept in the state and written by `save`, so that only a failed write can interrupt a change.
-- `save` writes in an order in which an interruption never leaves fewer permits counted. If the first entry
-- of the list is not `oldest`, the list is not the one of this state, and all permits of the state count as
-- granted at its newest entry.

local function slidingLog()
  -- Entries that are read together: most calls need the first few only, the others nearly all.
  local CHUNK, LONG_CHUNK = 16, 128
  -- The most entries that a script reads for each limit: its time stays within milliseconds whatever the list holds.
  -- Those of two intervals, which a request for nearly all permits may pass, are fewer: MOST_ENTRIES, and two thousand.
  local READ_LIMIT = 4352 * (#KEYS - 3)
  local entriesRead = 0

  -- A call with many reservations asks repeatedly how far the log has to empty. Each search continues where
  -- the last one ended, and starts again if an entry that it has passed may have changed. `needAt` is the
  -- first entry that may stay for a request, `fitAt` the first that still counts at a moment; `needed` and
  -- `fitted` are the permits before these entries.
  local function beginAnew(state)
    state.needAt, state.needed, state.fitAt, state.fitted = 0, 0, 0, 0
  end

  -- The list as far as this call knows it: its length before the call, the entries that were read, those
  -- changed, and the number to be cut off at the front. `len` is the number of entries that still count.
  local function attach(state, log)
    state.log, state.was, state.front = log, state.len, 0
    state.times, state.counts, state.changed, state.pushed = {}, {}, {}, {}
    beginAnew(state)
    return state
  end

  -- Discards the list.
  local function dropList(state)
    state.front, state.len = state.was, 0
    state.changed, state.pushed = {}, {}
    beginAnew(state)
  end

  local function clear(state)
    dropList(state)
    state.coarsest = state.resolution
    state.total, state.newest, state.under, state.oldest, state.openTime, state.openCount = 0, 0, 0, 0, 0, 0
  end

  -- The list is not the one of this state. All of its permits now count until the newest entry expires. Any of them may have been
  -- granted as early as the oldest entry, so the newest one is a slot that begins there.
  local function collapse(state)
    dropList(state)
    state.coarsest = state.coarsest + state.openTime - state.oldest
    state.openCount, state.oldest = state.total, state.openTime
  end

  -- The time and count of the entry at an index, from the oldest on; nil after the last. Reads it with its
  -- neighbours, unless it is read `alone`.
  local function entry(state, index, alone)
    if index < state.len then
      local place = state.front + index
      if not state.times[place] then
        local size = (state.times[place - 1] or state.times[place + 1]) and LONG_CHUNK or CHUNK
        if alone then size = 1 else entriesRead = entriesRead + size end
        if entriesRead > READ_LIMIT then
          refuseKey(state.log, 'log of its ledger', 'more entries than an interval has')
        end
        local from = place - place % size
        local chunk = readKey('log', 'LRANGE', state.log, from, from + size - 1)
        for i = 1, #chunk do
          if not state.times[from + i - 1] then
            if #chunk[i] ~= 16 then refuseKey(state.log, 'log', 'an entry of another length') end
            local time, count = struct.unpack('<dd', chunk[i])
            if not (time >= 0 and count >= 0 and time + count < 2 ^ 60) then refuseKey(state.log, 'log', 'an invalid entry') end
            state.times[from + i - 1], state.counts[from + i - 1] = time, count
          end
        end
        if not state.times[place] or (from == 0 and state.front == 0 and state.times[0] ~= state.oldest) then
          return collapse(state)
        end
      end
      return state.times[place], state.counts[place]
    end
    local later = state.pushed[index - state.len + 1]
    if later then return later[1], later[2] end
    if index == state.len + #state.pushed and state.openTime > 0 then return state.openTime, state.openCount end
    return nil
  end

  -- Removes `back` permits from the entry at an index that has been read.
  local function lessen(state, index, back)
    local place, later = state.front + index, state.pushed[index - state.len + 1]
    state.total = state.total - back
    beginAnew(state)
    if index < state.len then
      state.counts[place] = state.counts[place] - back
      state.changed[place] = true
    elseif later then
      later[2] = later[2] - back
    else
      state.openCount = state.openCount - back
    end
  end

  -- The number of entries.
  local function lengthOf(state)
    return state.len + #state.pushed + (state.openTime > 0 and 1 or 0)
  end

  -- The slot of the moment `under`.
  local function slotUnder(state)
    return math.ceil(state.under / state.resolution) * state.resolution
  end

  -- Removes the newest entry. Returns whether the list was the one of this state.
  local function pop(state)
    local before = lengthOf(state) - 2
    beginAnew(state)
    if before < 0 then
      state.openTime, state.openCount, state.newest = 0, 0, 0
      return true
    end
    local time, count = entry(state, before)
    if not time then return false end
    if #state.pushed > 0 then state.pushed[#state.pushed] = nil else state.len = state.len - 1 end
    state.openTime, state.openCount = time, count
    local isKnown = slotUnder(state) == time
    state.newest = math.min(state.newest, isKnown and state.under or time)
    if isKnown then state.under = 0 end
    return true
  end

  -- Takes the entries of the list from an index on, which have been read, out of it, to be written as new ones.
  local function reopen(state, index)
    local moved = {}
    for place = state.front + index, state.front + state.len - 1 do
      moved[#moved + 1] = { state.times[place], state.counts[place] }
      state.changed[place] = nil
    end
    for i = 1, #state.pushed do moved[#moved + 1] = state.pushed[i] end
    state.pushed, state.len = moved, index
  end

  local function isInline(state)
    if state.len > 0 or #state.pushed > MOST_INLINE then return false end
    for i = 1, #state.pushed do
      if state.pushed[i][2] >= COUNT_BOUND then return false end
    end
    return true
  end

  -- Writes the changes. A new list gets the lifetime of the ledger, `left`, and so does any list if `lives` tells
  -- that the ledger's was renewed. A `small` ledger holds a few entries itself.
  local function save(state, small, lives, left)
    local log, pushed, stop = state.log, state.pushed, state.front + state.len
    local inline = small and isInline(state)
    for place in pairs(state.changed) do
      if place >= state.front and place < stop then
        redis.call('LSET', log, place, struct.pack('<dd', state.times[place], state.counts[place]))
      end
    end
    -- Also removes entries that a failed call has pushed, before others are added.
    local begins = state.len == 0 and #pushed > 0 and not inline
    if state.len == 0 and (state.foreign or state.was > 0) or begins then
      redis.call('DEL', log)
    elseif state.front > 0 or stop < state.was or #pushed > 0 and state.len > 0 then
      redis.call('LTRIM', log, state.front, stop - 1)
    end
    if inline then return end
    for from = 1, #pushed, 1000 do
      local packed = {}
      for i = from, math.min(#pushed, from + 999) do
        packed[#packed + 1] = struct.pack('<dd', pushed[i][1], pushed[i][2])
      end
      redis.call('RPUSH', log, unpack(packed))
    end
    state.len, state.pushed = state.len + #pushed, {}
    if begins or lives and state.len > 0 then redis.call('PEXPIRE', log, left) end
  end

  return attach, clear, entry, lessen, lengthOf, pop, reopen, save, slotUnder
end
