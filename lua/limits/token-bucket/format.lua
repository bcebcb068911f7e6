-- @include "limits/checked"
-- @include "heads/token-bucket"
-- @include "limits/token-bucket/history"

-- How the state of a token bucket is stored in a ledger.

local function bucketFormat()
  -- What is stored if `present` is not known, or no higher than this.
  local UNKNOWN = -2 ^ 59

  local format = {}

  function format.create(spec)
    return {
      kind = 't', permits = spec[3], interval = spec[4], burst = spec[5], units = spec[5] * spec[4], ts = 0,
      owedUntil = 0, steps = {}, lastAt = MIXED, unsureUntil = 0, sameSince = 0,
    }
  end

  local function checkSteps(count)
    if not (count >= 0 and count <= MOST_PAST + MOST_AHEAD) then error('a history of too many steps', 0) end
  end

  -- Reads steps in a format, those with the numbers `from` to `till`, with `by` between two of them. Returns the position after
  -- them.
  local function unpackSteps(steps, from, till, by, format, data, position)
    local since, stop, held
    for i = from, till, by do
      since, stop, held, position = struct.unpack(format, data, position)
      checkSmall(since + stop + held)
      -- A step that ended before it begins could not be removed by its moment.
      checkCounts(since, stop - since, held)
      steps[i] = { since = since, stop = stop, held = held }
    end
    return position
  end

  local function packSteps(steps, from, till, by, format)
    local parts = { '' }
    for i = from, till, by do
      parts[#parts + 1] = struct.pack(format, steps[i].since, steps[i].stop, steps[i].held)
    end
    return table.concat(parts)
  end

  -- Sets the refill before the last change of the rate, if there was one.
  local function setFormer(state, formerUntil, since, permits, interval)
    checkSmall(formerUntil + since + permits + interval)
    if formerUntil == 0 then return end
    checkCounts(formerUntil, since, 0)
    checkRate(permits, interval, 0)
    state.formerUntil, state.formerSince, state.formerPermits, state.formerInterval = formerUntil, since, permits, interval
  end

  -- What is set only after the limit was changed, or reservations became void.
  local function changesOf(state)
    return state.owedUntil, state.unsureUntil, state.sameSince, state.formerUntil or 0, state.formerSince or 0,
      state.formerPermits or 0, state.formerInterval or 0
  end

  function format.decode(data, position)
    local permits, interval, burst, units, ts, lastAt, count, owedUntil, unsureUntil, sameSince, formerUntil, formerSince,
      formerPermits, formerInterval, present, after = struct.unpack('<ddddddddddddddd', data, position)
    checkSmall(permits + interval + burst + ts + owedUntil + lastAt + unsureUntil + sameSince + present)
    -- The refill that is lost until a reservation far ahead may be any number of units.
    checkFinite(units)
    checkRate(permits, interval, burst - 1)
    checkCounts(ts, owedUntil, unsureUntil)
    checkSteps(count)
    local steps = {}
    after = unpackSteps(steps, 1, count, 1, '<ddd', data, after)
    local state = {
      kind = 't', permits = permits, interval = interval, burst = burst, units = units, ts = ts, owedUntil = owedUntil,
      present = present > UNKNOWN and present or nil, steps = steps, lastAt = lastAt, unsureUntil = unsureUntil,
      sameSince = sameSince,
    }
    setFormer(state, formerUntil, formerSince, formerPermits, formerInterval)
    return state, after
  end

  function format.encode(state)
    local owedUntil, unsureUntil, sameSince, formerUntil, formerSince, formerPermits, formerInterval = changesOf(state)
    return struct.pack('<ddddddddddddddd', state.permits, state.interval, state.burst, state.units, state.ts, state.lastAt,
      #state.steps, owedUntil, unsureUntil, sameSince, formerUntil, formerSince, formerPermits, formerInterval,
      math.max(state.present or UNKNOWN, UNKNOWN)) .. packSteps(state.steps, 1, #state.steps, 1, '<ddd')
  end

  -- Whether the state fits into the format of lua/heads.
  function format.fits(state)
    for _, step in ipairs(state.steps) do
      if step.stop >= MOMENT_BOUND or step.held >= HELD_BOUND then return false end
    end
    return state.units > -2 ^ 59 and state.lastAt < MOMENT_BOUND
  end

  function format.numbers(state)
    return state.permits, state.interval, state.burst
  end

  function format.packHead(state, text)
    local newest = state.steps[1] or { since = 0, stop = 0, held = 0 }
    return struct.pack(BUCKET, state.units, state.lastAt, #state.steps, newest.since, newest.stop, newest.held, state.permits,
      state.interval, state.burst) .. text .. packSteps(state.steps, #state.steps, 2, -1, STEP)
  end

  function format.unpackHead(data, position, seen)
    local units, lastAt, count, since, stop, held, permits, interval, burst
    units, lastAt, count, since, stop, held, permits, interval, burst, position = struct.unpack(BUCKET, data, position)
    checkSmall(units)
    checkRate(permits, interval, burst - 1)
    checkSteps(count)
    checkCounts(count > 0 and stop - since or 0, 0, 0)
    return {
      kind = 't', permits = permits, interval = interval, burst = burst, units = units, ts = seen, owedUntil = 0,
      steps = count > 0 and { { since = since, stop = stop, held = held } } or {}, count = count, lastAt = lastAt,
      unsureUntil = 0, sameSince = 0,
    }, position
  end

  function format.unpackRest(state, data, position)
    return unpackSteps(state.steps, state.count, 2, -1, STEP, data, position)
  end

  -- The fields that few states have.
  function format.packRare(state, now)
    return struct.pack('<ddddddd', changesOf(state)),
      state.sameSince ~= 0 or state.owedUntil > now or state.unsureUntil > now
  end

  function format.unpackRare(state, data, position)
    local formerUntil, formerSince, permits, interval
    state.owedUntil, state.unsureUntil, state.sameSince, formerUntil, formerSince, permits, interval, position =
      struct.unpack('<ddddddd', data, position)
    checkFinite(state.owedUntil + state.unsureUntil + state.sameSince)
    setFormer(state, formerUntil, formerSince, permits, interval)
    return position
  end

  -- All of the state is in the ledger.
  function format.save() end

  return format
end
