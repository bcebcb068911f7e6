-- @include "limits/checked"
-- @include "heads/fixed-window"

-- How the state of a fixed window is stored in a ledger.

local function fixedFormat()
  local format = {}

  function format.create(spec)
    return {
      kind = 'f', permits = spec[3], interval = spec[4], epoch = spec[5], start = 0, stop = 0, used = 0, newest = 0,
      reserved = 0, start0 = 0, stop0 = 0, used0 = 0, newest0 = 0, reserved0 = 0, most0 = 0, shift = 0,
    }
  end

  function format.decode(data, position)
    local permits, interval, epoch, start, stop, used, newest, reserved, start0, stop0, used0, newest0, reserved0, most0, shift,
      after = struct.unpack('<ddddddddddddddd', data, position)
    checkFinite(permits + interval + epoch + start + stop + used + newest + reserved + start0 + stop0 + used0 + newest0
      + reserved0 + most0 + shift)
    checkRate(permits, interval, epoch)
    checkCounts(used, used0, reserved)
    return {
      kind = 'f', permits = permits, interval = interval, epoch = epoch, start = start, stop = stop, used = used,
      newest = newest, reserved = reserved, start0 = start0, stop0 = stop0, used0 = used0, newest0 = newest0,
      reserved0 = reserved0, most0 = most0, shift = shift,
    }, after
  end

  function format.encode(state)
    return struct.pack('<ddddddddddddddd', state.permits, state.interval, state.epoch, state.start, state.stop, state.used,
      state.newest, state.reserved, state.start0, state.stop0, state.used0, state.newest0, state.reserved0, state.most0,
      state.shift)
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
      newest = newest, reserved = reserved, start0 = 0, stop0 = 0, used0 = 0, newest0 = 0, reserved0 = 0, most0 = 0, shift = 0,
    }, after
  end

  -- All of the state is in the head.
  function format.unpackRest(state, data, position)
    return position
  end

  -- The window before the last, if it is known.
  function format.packRare(state)
    return struct.pack('<dddddd', state.start0, state.stop0, state.used0, state.newest0, state.reserved0, state.most0),
      state.stop0 > 0
  end

  function format.unpackRare(state, data, position)
    state.start0, state.stop0, state.used0, state.newest0, state.reserved0, state.most0, position =
      struct.unpack('<dddddd', data, position)
    checkFinite(state.start0 + state.stop0 + state.used0 + state.newest0 + state.reserved0 + state.most0)
    checkCounts(state.used0, 0, 0)
    return position
  end

  -- All of the state is in the ledger.
  function format.save() end

  return format
end
