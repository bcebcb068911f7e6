-- @include "limits/checked"
-- @include "heads/fixed-window"

-- How the state of a fixed window is stored in a ledger.

-- The most windows that are remembered before the last.
local MOST_EARLIER = 16

local function fixedFormat()
  local format = {}

  function format.create(spec)
    return {
      kind = 'f', permits = spec[3], interval = spec[4], epoch = spec[5], start = 0, stop = 0, used = 0, newest = 0,
      reserved = 0, earlier = {}, most = 0, shift = 0,
    }
  end

  -- The windows before the last, in the full form and in the rare part: their number and `most`, then five numbers of each.
  local function packEarlier(state)
    local parts = { struct.pack('<dd', #state.earlier, state.most) }
    for i, window in ipairs(state.earlier) do
      parts[i + 1] = struct.pack('<ddddd', window.start, window.stop, window.used, window.newest, window.reserved)
    end
    return table.concat(parts)
  end

  local function unpackEarlier(state, data, position)
    local count
    count, state.most, position = struct.unpack('<dd', data, position)
    checkFinite(state.most)
    if not (count >= 0 and count <= MOST_EARLIER) then error('too many windows', 0) end
    for i = 1, count do
      local start, stop, used, newest, reserved, after = struct.unpack('<ddddd', data, position)
      checkFinite(start + stop + used + newest + reserved)
      checkCounts(used, 0, 0)
      state.earlier[i] = { start = start, stop = stop, used = used, newest = newest, reserved = reserved }
      position = after
    end
    return position
  end

  function format.decode(data, position)
    local permits, interval, epoch, start, stop, used, newest, reserved, shift, after =
      struct.unpack('<ddddddddd', data, position)
    checkFinite(permits + interval + epoch + start + stop + used + newest + reserved + shift)
    checkRate(permits, interval, epoch)
    checkCounts(used, 0, reserved)
    local state = {
      kind = 'f', permits = permits, interval = interval, epoch = epoch, start = start, stop = stop, used = used,
      newest = newest, reserved = reserved, earlier = {}, shift = shift,
    }
    return state, unpackEarlier(state, data, after)
  end

  function format.encode(state)
    return struct.pack('<ddddddddd', state.permits, state.interval, state.epoch, state.start, state.stop, state.used,
      state.newest, state.reserved, state.shift) .. packEarlier(state)
  end

  -- Whether the state fits into the format of lua/heads.
  function format.fits(state)
    return state.start >= 0 and state.stop < TIME_BOUND and state.newest < TIME_BOUND
  end

  function format.numbers(state)
    return state.permits, state.interval, state.epoch
  end

  function format.packHead(state, text)
    return struct.pack(FIXED, state.used, state.newest, state.reserved, state.start, state.stop, state.permits, state.interval,
      state.epoch) .. text
  end

  function format.unpackHead(data, position)
    local used, newest, reserved, start, stop, permits, interval, epoch, after = struct.unpack(FIXED, data, position)
    checkRate(permits, interval, epoch)
    return {
      kind = 'f', permits = permits, interval = interval, epoch = epoch, start = start, stop = stop, used = used,
      newest = newest, reserved = reserved, earlier = {}, most = 0, shift = 0,
    }, after
  end

  -- All of the state is in the head.
  function format.unpackRest(state, data, position)
    return position
  end

  -- What few states have: windows before the last, that are known or may hold more than the limit.
  function format.packRare(state)
    return packEarlier(state), state.earlier[1] ~= nil or state.most > 0
  end

  format.unpackRare = unpackEarlier

  -- All of the state is in the ledger.
  function format.save() end

  return format
end
