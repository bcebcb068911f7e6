-- @include "limits/checked"
-- @include "heads/sliding-window"

-- How the state of a sliding window is stored in a ledger. The log's `attach` completes a state that was read.

local function slidingFormat(attach)
  local format = {}

  function format.create(spec, log)
    -- A list that exists already belongs to another ledger.
    return attach({
      kind = 's', permits = spec[3], interval = spec[4], resolution = spec[5], coarsest = spec[5], total = 0, newest = 0,
      under = 0, purged = -1, oldest = 0, len = 0, openTime = 0, openCount = 0, foreign = true,
    }, log)
  end

  function format.decode(data, position, log)
    local permits, interval, resolution, coarsest, total, newest, purged, oldest, len, openTime, openCount, under, after =
      struct.unpack('<dddddddddddd', data, position)
    checkFinite(permits + interval + resolution + coarsest + total + newest + purged + oldest + len + openTime
      + openCount + under)
    checkRate(permits, interval, resolution - 1)
    checkCounts(total, openCount, len)
    if len ~= math.floor(len) or len >= COUNT_BOUND or len > 0 and openTime <= 0 then error('an invalid log', 0) end
    return attach({
      kind = 's', permits = permits, interval = interval, resolution = resolution, coarsest = coarsest, total = total,
      newest = newest, under = under, purged = purged, oldest = oldest, len = len, openTime = openTime,
      openCount = openCount,
    }, log), after
  end

  function format.encode(state)
    return struct.pack('<dddddddddddd', state.permits, state.interval, state.resolution, state.coarsest, state.total,
      state.newest, state.purged, state.oldest, state.len, state.openTime, state.openCount, state.under)
  end

  -- Whether the state fits into the format of lua/heads.
  function format.fits(state)
    return math.max(state.newest, state.openTime) < TIME_BOUND
  end

  function format.numbers(state)
    return state.permits, state.interval, state.resolution
  end

  function format.packHead(state, text)
    local entries, parts = #state.pushed, {}
    if state.len > 0 then
      entries, parts[1] = IN_LIST, struct.pack(ENTRY, state.oldest, state.len)
    else
      for i = 1, entries do parts[i] = struct.pack(ENTRY, state.pushed[i][1], state.pushed[i][2]) end
    end
    return struct.pack(WINDOW, state.total, state.newest, state.openCount, state.openTime, entries, state.purged + 1,
      state.permits, state.interval, state.resolution) .. text .. table.concat(parts)
  end

  function format.unpackHead(data, position, seen, log)
    local total, newest, openCount, openTime, entries, purged, permits, interval, resolution
    total, newest, openCount, openTime, entries, purged, permits, interval, resolution, position =
      struct.unpack(WINDOW, data, position)
    checkRate(permits, interval, resolution - 1)
    if entries > 0 and openTime == 0 or entries > MOST_INLINE and entries ~= IN_LIST then
      error('an invalid log', 0)
    end
    return {
      kind = 's', permits = permits, interval = interval, resolution = resolution, coarsest = resolution, total = total,
      newest = newest, under = 0, purged = purged - 1, oldest = openTime, len = 0, openTime = openTime, openCount = openCount,
      log = log, entries = entries,
    }, position
  end

  -- Reads the entries, or what is known of their list.
  function format.unpackRest(state, data, position)
    local entries = state.entries
    if entries == IN_LIST then
      state.oldest, state.len, position = struct.unpack(ENTRY, data, position)
      entries = 0
    end
    attach(state, state.log)
    for i = 1, entries do
      local time, count
      time, count, position = struct.unpack(ENTRY, data, position)
      state.pushed[i] = { time, count }
    end
    if state.pushed[1] then state.oldest = state.pushed[1][1] end
    return position
  end

  -- The coarsest resolution, if it differs from the present one, and the moment `under`.
  function format.packRare(state)
    return struct.pack('<dd', state.coarsest, state.under), state.coarsest ~= state.resolution or state.under > 0
  end

  function format.unpackRare(state, data, position)
    state.coarsest, state.under, position = struct.unpack('<dd', data, position)
    checkFinite(state.coarsest + state.under)
    return position
  end

  return format
end
