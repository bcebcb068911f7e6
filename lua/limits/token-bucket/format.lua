-- @include "limits/checked"
-- @include "heads/token-bucket"

-- How the state of a token bucket is stored in a ledger.

local function bucketFormat()
  local function create(spec)
    return {
      kind = 't', permits = spec[3], interval = spec[4], burst = spec[5], units = spec[5] * spec[4], ts = 0, reserved = 0,
      owedUntil = 0, tail = -1, since1 = 0, held1 = 0, since0 = 0, held0 = 0, lastAt = -1, lastAfter = -1, lastCount = 0,
      sameSince = 0,
    }
  end

  local function decode(data, position)
    local permits, interval, burst, units, ts, reserved, owedUntil, tail, since1, held1, since0, held0, lastAt, lastAfter,
      lastCount, sameSince, after = struct.unpack('<dddddddddddddddd', data, position)
    checkFinite(permits + interval + burst + units + ts + reserved + owedUntil + tail + since1 + held1 + since0 + held0
      + lastAt + lastAfter + lastCount + sameSince)
    checkRate(permits, interval, burst - 1)
    checkCounts(reserved, lastCount, ts)
    checkCounts(held1, held0, 0)
    return {
      kind = 't', permits = permits, interval = interval, burst = burst, units = units, ts = ts, reserved = reserved,
      owedUntil = owedUntil, tail = tail, since1 = since1, held1 = held1, since0 = since0, held0 = held0, lastAt = lastAt,
      lastAfter = lastAfter, lastCount = lastCount, sameSince = sameSince,
    }, after
  end

  local function encode(state)
    return struct.pack('<dddddddddddddddd', state.permits, state.interval, state.burst, state.units, state.ts,
      state.reserved, state.owedUntil, state.tail, state.since1, state.held1, state.since0, state.held0, state.lastAt,
      state.lastAfter, state.lastCount, state.sameSince)
  end

  -- The format of lua/heads.
  local function fits(state)
    local last = math.max(state.tail, state.since1, state.since0, state.lastAt, state.lastAfter)
    return state.reserved < 2 ^ 32 and state.lastCount < 2 ^ 32 and state.units > -2 ^ 59 and last < MOMENT_BOUND
  end

  local function numbers(state)
    return state.permits, state.interval, state.burst
  end

  local function packHead(state)
    return struct.pack(BUCKET, state.units, state.tail, state.since1, state.held1, state.since0, state.held0, state.lastAt,
      state.lastAfter, state.lastCount, state.reserved)
  end

  local function unpackHead(data, position, permits, interval, burst, seen)
    local units, tail, since1, held1, since0, held0, lastAt, lastAfter, lastCount, reserved, after =
      struct.unpack(BUCKET, data, position)
    checkSmall(permits + interval + burst + units + tail + since1 + held1 + since0 + held0 + lastAt + lastAfter)
    checkRate(permits, interval, burst - 1)
    checkCounts(held1, held0, 0)
    return {
      kind = 't', permits = permits, interval = interval, burst = burst, units = units, ts = seen, reserved = reserved,
      owedUntil = 0, tail = tail, since1 = since1, held1 = held1, since0 = since0, held0 = held0, lastAt = lastAt,
      lastAfter = lastAfter, lastCount = lastCount, sameSince = 0,
    }, after
  end

  -- Fields that are set only after the limit was changed.
  local function packRare(state, now)
    return struct.pack('<dd', state.owedUntil, state.sameSince), state.sameSince ~= 0 or state.owedUntil > now
  end

  local function unpackRare(state, data, position)
    state.owedUntil, state.sameSince, position = struct.unpack('<dd', data, position)
    checkFinite(state.owedUntil + state.sameSince)
    return position
  end

  -- All of the state is in the ledger.
  local function save() end

  return {
    create = create, decode = decode, encode = encode, fits = fits, numbers = numbers, packHead = packHead,
    unpackHead = unpackHead, packRare = packRare, unpackRare = unpackRare, save = save,
  }
end
