-- The token bucket, in units of 1/interval of a permit. The twin of src/limits/tokenBucket.ts.
--
-- A function that makes the functions of the limit, so that a script makes only those of the limits that it meets.

local function tokenBucket()
  local function create(spec)
    return {
      kind = 't', permits = spec[3], interval = spec[4], burst = spec[5],
      units = spec[5] * spec[4], ts = 0, tail = 0, booked = 0, owedUntil = 0, since0 = 0, peak0 = 0,
      since1 = 0, peak1 = 0,
    }
  end

  local function decode(data, position)
    local permits, interval, burst, units, ts, tail, booked, owedUntil, since0, peak0, since1, peak1, after =
      struct.unpack('<dddddddddddd', data, position)
    return {
      kind = 't', permits = permits, interval = interval, burst = burst, units = units, ts = ts, tail = tail,
      booked = booked, owedUntil = owedUntil, since0 = since0, peak0 = peak0, since1 = since1, peak1 = peak1,
    }, after
  end

  local function encode(state)
    return struct.pack('<dddddddddddd', state.permits, state.interval, state.burst, state.units, state.ts, state.tail,
      state.booked, state.owedUntil, state.since0, state.peak0, state.since1, state.peak1)
  end

  local function unitsAt(state, now)
    local cap = state.burst * state.interval
    -- Compared before it is multiplied: a product of a long time would not be exact.
    if now - state.ts >= (cap - state.units) / state.permits then return cap end
    return state.units + (now - state.ts) * state.permits
  end

  -- What the bucket holds at t, just before a grant there. What is booked lies on a whole millisecond: what has run in since
  -- the moment between two of them at which there was enough may lie above the brim.
  local function levelAt(state, now, t)
    local brim = state.burst * state.interval
    if t > now then brim = brim + state.permits - 1 end
    return math.min(brim, unitsAt(state, now) + (t - now) * state.permits)
  end

  -- A grant at once, whose moment is rounded up, is charged at the time rounded down: in between, a full bucket loses nothing.
  local function chargedAt(state, now, t, n)
    if t == now + 1 and n * state.interval <= unitsAt(state, now) then return now end
    return t
  end

  -- Once the later moment has come, its peak takes the place of the earlier one, and a new one begins at the tail.
  local function turnPeaks(state, now)
    if now < state.since1 then return end
    state.since0, state.peak0 = state.since1, state.peak1
    state.since1, state.peak1 = state.tail, 0
  end

  -- Keeps the highest level before any booking of this phase: bookings form a phase while the newest of them lies ahead.
  local function notePeak(state, now, t, level)
    turnPeaks(state, now)
    if state.tail <= now then
      state.since0, state.since1, state.peak0, state.peak1 = t, t, level, level
      return
    end
    state.peak0, state.peak1 = math.max(state.peak0, level), math.max(state.peak1, level)
  end

  -- Nothing can be known of the levels before: no refund of what was booked before may use them.
  local function forgetPeaks(state)
    state.since0, state.since1, state.peak0, state.peak1 = state.tail + 1, state.tail + 1, 0, 0
  end

  local function roll(state, now)
    state.units = unitsAt(state, now)
    state.ts = now
  end

  local function earliest(state, now, at, n)
    local missing = n * state.interval - unitsAt(state, now)
    if missing <= 0 then return now end
    return now + math.ceil(missing / state.permits)
  end

  local function fit(state, now, t, n)
    return math.floor(levelAt(state, now, t) / (n * state.interval))
  end

  local function commit(state, now, t, n)
    local moment = chargedAt(state, now, t, n)
    local level = levelAt(state, now, moment)
    if t > now then
      notePeak(state, now, t, level)
      state.booked = (state.tail > now and state.booked or 0) + n
    end
    -- Waiting longer than the permits need overflows the bucket: that is not credited.
    state.units = level - (moment - now) * state.permits - n * state.interval
    state.ts = now
    state.tail = math.max(state.tail, t)
  end

  local function refund(state, now, t, n)
    local cap, cost = state.burst * state.interval, n * state.interval
    turnPeaks(state, now)
    -- What was booked after it, or has come back since, must not be restored twice.
    local back = math.max(0, cost - math.max(0, math.max(now, state.tail) - t) * state.permits)
    if t > now and t >= state.since0 then
      -- Where the bucket never came near its brim after t, more can be put back without overflowing it.
      local peak = state.peak0
      if t >= state.since1 then peak = state.peak1 end
      back = math.max(back, math.min(cost, cap - math.max(peak, state.units)))
    end
    state.units = math.min(cap, state.units + back)
    state.peak0, state.peak1 = state.peak0 + back, state.peak1 + back
    if t > now then state.booked = math.max(0, state.booked - n) end
  end

  local function release(state, now, at, n)
    local cap = state.burst * state.interval
    -- Which of the bookings have come since is not known: while any is ahead, all that were booked with it are left.
    local booked = 0
    if state.tail > now then booked = state.booked * state.interval end
    local taken = math.max(0, cap - state.units - booked)
    local back = math.max(0, math.min(n * state.interval, taken) - math.max(0, state.tail - now) * state.permits)
    state.units = state.units + back
    state.peak0, state.peak1 = state.peak0 + back, state.peak1 + back
  end

  -- Forgets what is booked for later than a moment: what was booked before it has left the level there above nothing, once
  -- nothing is owed any more.
  local function cut(state, now, after)
    if state.tail <= after then return end
    state.units = math.max(state.units, -(math.max(after, state.owedUntil) - now) * state.permits)
    state.tail = after
    forgetPeaks(state)
  end

  local function available(state, now)
    return math.max(0, math.floor(unitsAt(state, now) / state.interval))
  end

  local function full(state, now)
    return now + math.ceil((state.burst * state.interval - unitsAt(state, now)) / state.permits)
  end

  local function takenOf(state)
    return (state.burst * state.interval - state.units) / state.interval
  end

  local function adopt(state, spec)
    local taken = takenOf(state)
    state.permits, state.interval, state.burst = spec[3], spec[4], spec[5]
    state.units = state.burst * state.interval - math.ceil(taken * state.interval)
    state.owedUntil = state.ts + math.max(0, math.ceil(-state.units / state.permits))
    forgetPeaks(state)
  end

  local function taken(state)
    return math.ceil(takenOf(state)), state.tail
  end

  local function save() end

  return {
    create = create, decode = decode, encode = encode, roll = roll, earliest = earliest, fit = fit,
    commit = commit, refund = refund, release = release, cut = cut, available = available, full = full, adopt = adopt, taken = taken, save = save,
  }
end
