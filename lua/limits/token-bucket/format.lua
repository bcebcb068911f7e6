-- @include "limits/checked"
-- @include "heads/token-bucket"
-- @include "limits/token-bucket/history"

-- How the state of a token bucket is stored in a ledger.

local function bucketFormat()
  local function create(spec)
    return {
      kind = 't', permits = spec[3], interval = spec[4], burst = spec[5], units = spec[5] * spec[4], ts = 0, owedUntil = 0,
      steps = {}, lastAt = -2, unsureUntil = 0, sameSince = 0,
    }
  end

  -- Reads `count` steps in a format. Returns them and the position after them.
  local function unpackSteps(data, position, count, format)
    if not (count >= 0 and count <= MOST_PAST + MOST_AHEAD) then error('a history of too many steps', 0) end
    local steps, since, stop, held = {}, nil, nil, nil
    for i = 1, count do
      since, stop, held, position = struct.unpack(format, data, position)
      checkSmall(since + stop + held)
      checkCounts(since, stop, held)
      steps[i] = { since = since, stop = stop, held = held }
    end
    return steps, position
  end

  local function packSteps(steps, format)
    local parts = {}
    for i, step in ipairs(steps) do parts[i] = struct.pack(format, step.since, step.stop, step.held) end
    return table.concat(parts)
  end

  local function decode(data, position)
    local permits, interval, burst, units, ts, owedUntil, lastAt, unsureUntil, sameSince, count, after =
      struct.unpack('<dddddddddd', data, position)
    checkSmall(permits + interval + burst + units + ts + owedUntil + lastAt + unsureUntil + sameSince)
    checkSmall(units)
    checkRate(permits, interval, burst - 1)
    checkCounts(ts, owedUntil, unsureUntil)
    local steps
    steps, after = unpackSteps(data, after, count, '<ddd')
    return {
      kind = 't', permits = permits, interval = interval, burst = burst, units = units, ts = ts, owedUntil = owedUntil,
      steps = steps, lastAt = lastAt, unsureUntil = unsureUntil, sameSince = sameSince,
    }, after
  end

  local function encode(state)
    return struct.pack('<dddddddddd', state.permits, state.interval, state.burst, state.units, state.ts, state.owedUntil,
      state.lastAt, state.unsureUntil, state.sameSince, #state.steps) .. packSteps(state.steps, '<ddd')
  end

  -- Whether the state fits into the format of lua/heads.
  local function fits(state)
    for _, step in ipairs(state.steps) do
      if step.stop >= MOMENT_BOUND or step.held >= HELD_BOUND then return false end
    end
    return state.units > -2 ^ 59 and state.lastAt < MOMENT_BOUND
  end

  local function numbers(state)
    return state.permits, state.interval, state.burst
  end

  local function packHead(state)
    return struct.pack(BUCKET, state.units, state.lastAt, #state.steps) .. packSteps(state.steps, STEP)
  end

  local function unpackHead(data, position, permits, interval, burst, seen)
    local units, lastAt, count, steps
    units, lastAt, count, position = struct.unpack(BUCKET, data, position)
    checkSmall(permits + interval + burst + units + lastAt)
    checkRate(permits, interval, burst - 1)
    steps, position = unpackSteps(data, position, count, STEP)
    return {
      kind = 't', permits = permits, interval = interval, burst = burst, units = units, ts = seen, owedUntil = 0, steps = steps,
      lastAt = lastAt, unsureUntil = 0, sameSince = 0,
    }, position
  end

  -- Fields that are set only after the limit was changed, or reservations became void.
  local function packRare(state, now)
    return struct.pack('<ddd', state.owedUntil, state.unsureUntil, state.sameSince),
      state.sameSince ~= 0 or state.owedUntil > now or state.unsureUntil > now
  end

  local function unpackRare(state, data, position)
    state.owedUntil, state.unsureUntil, state.sameSince, position = struct.unpack('<ddd', data, position)
    checkFinite(state.owedUntil + state.unsureUntil + state.sameSince)
    return position
  end

  -- All of the state is in the ledger.
  local function save() end

  return {
    create = create, decode = decode, encode = encode, fits = fits, numbers = numbers, packHead = packHead,
    unpackHead = unpackHead, packRare = packRare, unpackRare = unpackRare, save = save,
  }
end
