-- @include "limits/checked"
-- @include "heads/sliding-window"

-- The sliding window: a log of (time, count), one entry per resolution. The twin of
-- src/limits/slidingWindow.ts.
--
-- The newest entry is kept open in the state. The entries before it are in a list, each as two doubles; a few
-- of them are stored in the ledger instead, as `pushed`, and then there is no list. The list is read in
-- chunks, as far as needed.
--
-- Changes are kept in the state and written by `save`, so that only a failed write can interrupt a change.
-- `save` writes in an order in which an interruption never leaves fewer permits counted. If the first entry
-- of the list is not `oldest`, the list is not the one of this state, and all permits of the state count as
-- granted at its newest entry.
--
-- A function that creates the functions of this limit, so that a script creates only those of the kinds it
-- needs.

local function slidingWindow()
  -- Entries that are read together: most calls need the first few only, the others nearly all.
  local CHUNK, LONG_CHUNK = 16, 128
  local PURGE_LIMIT = 1024
  local POP_LIMIT = 64
  local RELEASE_LIMIT = 1024
  local CUT_LIMIT = 2048
  local GAP_LIMIT = 256
  -- The most entries that a script reads for each limit: its time stays within milliseconds whatever the list holds.
  -- The entries of one interval are fewer: MOST_ENTRIES, and a thousand.
  local READ_LIMIT = 3328 * (#KEYS - 3)
  -- More changed entries than this are written as new ones, not one by one.
  local MOST_CHANGED = 32
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

  local function create(spec, log)
    -- A list that exists already belongs to another ledger.
    return attach({
      kind = 's', permits = spec[3], interval = spec[4], resolution = spec[5], coarsest = spec[5], total = 0, newest = 0,
      purged = -1, oldest = 0, len = 0, openTime = 0, openCount = 0, foreign = true,
    }, log)
  end

  local function decode(data, position, log)
    local permits, interval, resolution, coarsest, total, newest, purged, oldest, len, openTime, openCount, after =
      struct.unpack('<ddddddddddd', data, position)
    checkFinite(permits + interval + resolution + coarsest + total + newest + purged + oldest + len + openTime
      + openCount)
    checkRate(permits, interval, resolution - 1)
    checkCounts(total, openCount, len)
    if len ~= math.floor(len) or (len > 0 and openTime <= 0) then error('the ledger holds a log that is none') end
    return attach({
      kind = 's', permits = permits, interval = interval, resolution = resolution, coarsest = coarsest, total = total,
      newest = newest, purged = purged, oldest = oldest, len = len, openTime = openTime,
      openCount = openCount,
    }, log), after
  end

  local function encode(state)
    return struct.pack('<ddddddddddd', state.permits, state.interval, state.resolution, state.coarsest, state.total,
      state.newest, state.purged, state.oldest, state.len, state.openTime, state.openCount)
  end

  -- The format of lua/heads.
  local function fits()
    return true
  end

  local function numbers(state)
    return state.permits, state.interval, state.resolution
  end

  local function packHead(state)
    local entries, parts = #state.pushed, {}
    if state.len > 0 then
      entries, parts[1] = IN_LIST, struct.pack(ENTRY, state.oldest, state.len)
    else
      for i = 1, entries do parts[i] = struct.pack(ENTRY, state.pushed[i][1], state.pushed[i][2]) end
    end
    return struct.pack(WINDOW, state.total, state.newest, state.purged, state.openTime, state.openCount, entries)
      .. table.concat(parts)
  end

  local function unpackHead(data, position, permits, interval, resolution, seen, log)
    local total, newest, purged, openTime, openCount, entries
    total, newest, purged, openTime, openCount, entries, position = struct.unpack(WINDOW, data, position)
    checkSmall(permits + interval + resolution + total + newest + purged + openTime + openCount)
    checkRate(permits, interval, resolution - 1)
    checkCounts(total, openCount, openTime)
    checkCounts(newest, purged + 1, 0)
    if entries > 0 and openTime == 0 or entries > MOST_INLINE and entries ~= IN_LIST then
      error('the ledger holds a log that is none')
    end
    local state = {
      kind = 's', permits = permits, interval = interval, resolution = resolution, coarsest = resolution, total = total,
      newest = newest, purged = purged, oldest = openTime, len = 0, openTime = openTime, openCount = openCount,
    }
    if entries == IN_LIST then state.oldest, state.len, position = struct.unpack(ENTRY, data, position) end
    attach(state, log)
    for i = 1, entries == IN_LIST and 0 or entries do
      local time, count
      time, count, position = struct.unpack(ENTRY, data, position)
      state.pushed[i] = { time, count }
    end
    if state.pushed[1] then state.oldest = state.pushed[1][1] end
    return state, position
  end

  -- The coarsest resolution, if it differs from the present one.
  local function packRare(state)
    return struct.pack('<d', state.coarsest), state.coarsest ~= state.resolution
  end

  local function unpackRare(state, data, position)
    state.coarsest, position = struct.unpack('<d', data, position)
    checkFinite(state.coarsest)
    return position
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
    state.total, state.newest, state.oldest, state.openTime, state.openCount = 0, 0, 0, 0, 0
  end

  -- The list is not the one of this state. All of its permits now count until the newest entry expires.
  local function collapse(state)
    dropList(state)
    state.foreign = true
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
          error('the key ' .. state.log .. ' holds a log that is too long: reset() empties it', 0)
        end
        local from = place - place % size
        local chunk = redis.call('LRANGE', state.log, from, from + size - 1)
        for i = 1, #chunk do
          if not state.times[from + i - 1] then
            local time, count = struct.unpack('<dd', chunk[i])
            if not (time >= 0 and count >= 0 and time + count < 2 ^ 60) then error('the log holds an entry that is none') end
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

  -- The time of the entry for a grant at `t`. In a long log, new entries are a thousandth of the interval apart.
  local function slotOf(state, t)
    local slot = math.ceil(t / state.resolution) * state.resolution
    if lengthOf(state) < MOST_ENTRIES or (slot <= state.openTime and t >= state.newest) then return slot end
    local step = math.max(state.resolution, math.floor(state.interval / 1000))
    state.coarsest = math.max(state.coarsest, step)
    return math.ceil(t / step) * step
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
    state.newest = math.min(state.newest, time)
    return true
  end

  local function roll(state, now)
    local gone = now - state.interval
    if state.openTime > 0 and state.openTime <= gone then
      state.purged = state.openTime
      clear(state)
      return
    end
    if state.oldest > gone or lengthOf(state) < 2 then return end
    beginAnew(state)
    if state.len == 0 then
      local pushed = state.pushed
      while pushed[1] and pushed[1][1] <= gone do
        local first = table.remove(pushed, 1)
        state.total, state.purged = state.total - first[2], first[1]
      end
      state.oldest = pushed[1] and pushed[1][1] or state.openTime
      return
    end
    local dropped = 0
    while dropped < PURGE_LIMIT and dropped < state.len do
      local time, count = entry(state, dropped)
      if not time or time > gone then break end
      state.total, state.purged = state.total - count, time
      dropped = dropped + 1
    end
    if state.len == 0 then return end
    local oldest = entry(state, dropped)
    if not oldest then return end
    state.oldest, state.front, state.len = oldest, state.front + dropped, state.len - dropped
  end

  -- Begins a search from the newest entry on: finds the first entry that may stay, if the entries after it leave
  -- room for a request.
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

  local function earliest(state, now, at, n)
    local room = state.permits - n
    -- With many reservations ahead, most entries have to expire.
    if state.needAt == 0 and state.total - room > room then searchBack(state, room) end
    local index, needed, len, time, count = state.needAt, state.needed, state.len, nil, nil
    local spare = room - state.total
    -- A smaller request may need fewer entries to expire than the last one.
    while index > 0 do
      time, count = entry(state, index - 1)
      if state.len ~= len then return earliest(state, now, at, n) end
      if needed - count + spare < 0 then break end
      index, needed = index - 1, needed - count
    end
    while needed + spare < 0 do
      local later, more = entry(state, index)
      if state.len ~= len then return earliest(state, now, at, n) end
      if not later then break end
      time, needed, index = later, needed + more, index + 1
    end
    state.needAt, state.needed = index, needed
    local free = index > 0 and time + state.interval or now
    -- The log grows at its end only, and no request overtakes a reservation.
    if state.newest > at then return math.max(free, state.newest) end
    return free
  end

  local function fit(state, now, t, n)
    -- The search for a moment ahead ended near here.
    if state.fitAt == 0 and t > now then state.fitAt, state.fitted = state.needAt, state.needed end
    local index, fitted, len, gone = state.fitAt, state.fitted, state.len, t - state.interval
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
  -- grants may lie at the first millisecond of the slot.
  local function hasGap(state, now, at, n, before)
    local taken, length, len = state.total, lengthOf(state), state.len
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
      finish = time - state.coarsest + 1
    end
    return true
  end

  -- Removes the entries after a slot, so that the open entry is the one of the slot or an earlier one.
  -- Returns the removed entries, the last first.
  local function openBefore(state, slot)
    local behind, newest = {}, state.newest
    while state.openTime > slot do
      behind[#behind + 1] = { state.openTime, state.openCount }
      if not pop(state) then break end
    end
    state.newest = newest
    return behind
  end

  local function commitLast(state, slot, n)
    if state.openTime == slot then
      if math.max(state.needAt, state.fitAt) == lengthOf(state) then beginAnew(state) end
      state.openCount = state.openCount + n
      return
    end
    if state.openTime > 0 then
      state.pushed[#state.pushed + 1] = { state.openTime, state.openCount }
    else
      state.oldest = slot
    end
    state.openTime, state.openCount = slot, n
  end

  local function commit(state, now, t, n)
    local behind, slot = {}, slotOf(state, t)
    if t < state.newest then behind = openBefore(state, slot) end
    -- After a change of resolution, the last slot may be later than this one.
    commitLast(state, math.max(slot, state.openTime), n)
    for i = #behind, 1, -1 do commitLast(state, behind[i][1], behind[i][2]) end
    state.total = state.total + n
    state.newest = math.max(state.newest, t)
  end

  -- After the last reservations are refunded, later requests need not wait behind them.
  local function dropEmptyEnd(state)
    for _ = 1, POP_LIMIT do
      if state.openTime == 0 or state.openCount > 0 or not pop(state) then return end
    end
  end

  -- The index of the first entry at `t` or later, by binary search. A grant at `t` was recorded in that entry
  -- or an earlier one.
  local function find(state, t)
    local low, high = 0, lengthOf(state)
    while low < high do
      local middle = math.floor((low + high) / 2)
      local time = entry(state, middle, true)
      if not time then return nil end
      if time < t then low = middle + 1 else high = middle end
    end
    return low
  end

  local function refund(state, now, t, n)
    -- The entry of an older grant may have been removed, and the entry found be that of another grant.
    if t <= state.purged then return 0 end
    local index = find(state, t)
    if not index then return 0 end
    local time, count = entry(state, index, true)
    if not time or time - t >= state.coarsest or time <= now - state.interval then return 0 end
    local back = math.min(n, count)
    if back > 0 then lessen(state, index, back) end
    dropEmptyEnd(state)
    return back
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

  -- Takes from the newest entries without a reservation.
  local function release(state, now, at, n)
    local limit, left, last = at, n, lengthOf(state) - 1
    local changed, first = 0, last
    if state.newest <= at then limit = math.huge end
    for index = last, math.max(0, last - RELEASE_LIMIT), -1 do
      local time, count = entry(state, index)
      if left == 0 or not time then break end
      if count > 0 and time <= limit then
        local back = math.min(left, count)
        lessen(state, index, back)
        left, changed, first = left - back, changed + 1, index
      end
    end
    if changed > MOST_CHANGED and first < state.len then reopen(state, first) end
    dropEmptyEnd(state)
    return n - left
  end

  -- Forgets the slots that hold only reservations later than `after`.
  local function cut(state, now, after)
    local isCut = false
    -- Later reservations are void, but their slot may have to stay.
    state.newest = math.min(state.newest, after)
    for _ = 1, CUT_LIMIT do
      if state.openTime == 0 or state.openTime - state.coarsest < after then break end
      local count = state.openCount
      if not pop(state) then return end
      state.total, isCut = state.total - count, true
    end
    if isCut and state.openTime == 0 then clear(state) end
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
  end

  local function taken(state)
    return state.total, state.newest
  end

  local function isInline(state)
    if state.len > 0 or #state.pushed > MOST_INLINE then return false end
    for i = 1, #state.pushed do
      if state.pushed[i][2] >= COUNT_BOUND then return false end
    end
    return true
  end

  -- Writes the changes, and gives the list the lifetime of the ledger: `lives` if it is renewed, otherwise
  -- `left`. A `small` ledger holds a few entries itself.
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

  return {
    create = create, decode = decode, encode = encode, fits = fits, numbers = numbers, packHead = packHead, unpackHead = unpackHead,
    packRare = packRare, unpackRare = unpackRare, roll = roll, earliest = earliest, fit = fit,
    hasGap = hasGap,
    commit = commit, refund = refund, release = release, cut = cut, available = available, full = full, adopt = adopt, taken = taken, save = save,
  }
end
