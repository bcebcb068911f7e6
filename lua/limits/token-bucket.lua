-- @include "limits/checked"
-- @include "heads/token-bucket"

-- The token bucket, in units of 1/interval of a permit. The twin of src/limits/tokenBucket.ts.
--
-- A function that creates the functions of this limit, so that a script creates only those of the kinds it needs.

local function tokenBucket()
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

  local function unitsAt(state, now)
    local cap = state.burst * state.interval
    -- Compared before multiplying, as the product of a long time would not be exact.
    if now - state.ts >= (cap - state.units) / state.permits then return cap end
    return state.units + (now - state.ts) * state.permits
  end

  -- The level just before a grant at `t`. A reservation is made for a whole millisecond, so the refill since
  -- the fraction at which there were enough permits may exceed the capacity.
  local function levelAt(state, now, t)
    local brim = state.burst * state.interval
    if t > now then brim = brim + state.permits - 1 end
    return math.min(brim, unitsAt(state, now) + (t - now) * state.permits)
  end

  -- A grant made now is recorded at a time rounded up, but charged at `now`, so that a full bucket loses no
  -- refill in between.
  local function chargedAt(state, now, t, n)
    if t == now + 1 and n * state.interval <= unitsAt(state, now) then return now end
    return t
  end

  -- For what a bucket remembers of its grants, see src/limits/bucketLine.ts.

  local function endLast(state)
    state.lastAt, state.lastCount = -1, 0
  end

  local function hold(state, t, n)
    if t >= state.since1 then
      state.held1 = math.max(0, state.held1 + n)
    elseif t >= state.since0 then
      state.held0 = math.max(0, state.held0 + n)
    end
  end

  -- Starts another step with the last grants, if the present step holds more than half a burst and all
  -- earlier grants are due.
  local function beginStep(state, now)
    if now < state.since1 or state.lastAfter < state.since1 or state.held1 * 2 <= state.burst then return end
    local held = state.tail > state.lastAfter and state.lastCount or 0
    state.since0, state.since1 = state.since1, state.lastAfter + 1
    state.held0, state.held1 = state.held1 - held, held
  end

  -- Records a grant of `n` permits at `t`, which is charged at `moment`, perhaps a millisecond earlier.
  local function join(state, now, moment, t, n)
    if moment == state.lastAt then
      state.lastCount = state.lastCount + n
    else
      beginStep(state, now)
      state.lastAt, state.lastAfter, state.lastCount = moment, state.tail, n
    end
    hold(state, t, n)
    state.tail = math.max(state.tail, t)
  end

  -- Milliseconds of refill since a moment; negative if the moment is ahead. Refill at an earlier rate is not
  -- counted, as its amount is not known.
  local function ranSince(state, now, moment)
    if moment > now then return now - moment end
    return math.max(0, now - math.max(moment, state.sameSince))
  end

  -- A lower bound, in units, of the room in the bucket just before each grant that followed `n` permits
  -- granted at `t`. `taken` is what is taken now.
  local function roomAfter(state, now, t, n, taken)
    if t > state.lastAfter then return math.huge end
    if t < state.since0 then return 0 end
    local later, room = state.held1, math.huge
    if t >= state.since1 then later = later - n end
    if later > 0 then room = taken + ranSince(state, now, state.tail) * state.permits - later * state.interval end
    if t >= state.since1 or state.held0 <= n then return room end
    local ran = ranSince(state, now, math.min(state.tail, state.since1 - 1))
    return math.min(room, taken + ran * state.permits - (state.held0 - n + state.held1) * state.interval)
  end

  -- No moment is later than `tail` any more. Later grants come after all grants made until now.
  local function shorten(state, tail)
    state.tail = tail
    state.lastAfter = math.min(state.lastAfter, tail)
    if state.since1 > tail + 1 then state.since1, state.held1 = tail + 1, 0 end
    if state.since0 > tail + 1 then state.since0, state.held0 = tail + 1, 0 end
    state.sameSince = math.min(state.sameSince, tail + 1)
  end

  -- Removes `n` permits granted at `t`.
  local function leave(state, t, n)
    hold(state, t, -n)
    if t <= state.lastAfter then return end
    state.lastCount = state.lastCount - n
    -- The last grants are all refunded, so the ones before them are now the newest.
    if state.lastCount > 0 then return end
    endLast(state)
    shorten(state, state.lastAfter)
  end

  local function roll(state, now)
    -- A new grant must not join reservations whose moment has come.
    if state.lastAt > state.ts and state.lastAt <= now then state.lastAt = -1 end
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

  -- `units` already includes all reservations, so none of them needs what is left.
  local function hasGap(state, now, at, n)
    return unitsAt(state, now) >= n * state.interval
  end

  local function commit(state, now, t, n)
    local moment = chargedAt(state, now, t, n)
    local level = levelAt(state, now, moment)
    if t > now then state.reserved = (state.tail > now and state.reserved or 0) + n end
    join(state, now, moment, t, n)
    -- If the request waits longer than its permits need, the bucket overflows. The surplus is lost.
    state.units = level - (moment - now) * state.permits - n * state.interval
    state.ts = now
  end

  local function refund(state, now, t, n)
    if t > state.tail then return 0 end
    local cap, cost = state.burst * state.interval, n * state.interval
    local room = roomAfter(state, now, t, n, cap - state.units)
    if t >= state.sameSince then
      -- At most this much was or will be refilled since `t`, up to now or the newest reservation. No more
      -- than that can overflow, so the rest of the cost has room.
      room = math.max(room, cost - (math.max(now, state.tail) - t + 1) * state.permits)
    end
    local back = math.max(0, math.min(cost, room, cap - state.units))
    state.units = state.units + back
    leave(state, t, n)
    if t > now then state.reserved = math.max(0, state.reserved - n) end
    return back / state.interval
  end

  local function release(state, now, at, n)
    local cap = state.burst * state.interval
    -- The state does not tell which reservations have come due. While one is ahead, all that were made with
    -- it are left.
    local reserved = 0
    if state.tail > now then reserved = state.reserved * state.interval end
    local taken = math.max(0, cap - state.units - reserved)
    local back = math.max(0, math.min(n * state.interval, taken) - math.max(0, state.tail - now) * state.permits)
    state.units = state.units + back
    return back / state.interval
  end

  -- Forgets reservations later than a moment.
  local function cut(state, now, after)
    -- The number of permits of the newest reservations is known, so they are refunded exactly.
    if state.lastAt > math.max(after, state.lastAfter) then refund(state, now, state.lastAt, state.lastCount) end
    if state.tail <= after then return end
    -- At `after`, the level is not negative, as every earlier reservation had its permits by then, unless
    -- permits taken under an earlier limit are still to be refilled.
    local least = -(math.max(after, state.owedUntil) - now) * state.permits
    state.units = math.max(state.units, least)
    if state.lastAt > after then endLast(state) end
    -- A grant made now is recorded at `now` rounded up.
    local tail = math.max(after, now + 1)
    if tail < state.tail then shorten(state, tail) end
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
    -- All grants that are held count as taken now, whatever their moments, so one step holds them.
    state.sameSince = math.max(state.tail + 1, state.ts)
    state.since1, state.held0, state.held1, state.lastAt = state.sameSince, state.held0 + state.held1, 0, -1
    state.units = state.burst * state.interval - math.ceil(taken * state.interval)
    state.owedUntil = state.ts + math.max(0, math.ceil(-state.units / state.permits))
  end

  local function taken(state)
    return math.ceil(takenOf(state)), state.tail
  end

  local function save() end

  return {
    create = create, decode = decode, encode = encode, fits = fits, numbers = numbers, packHead = packHead, unpackHead = unpackHead,
    packRare = packRare, unpackRare = unpackRare, roll = roll, earliest = earliest, fit = fit,
    hasGap = hasGap,
    commit = commit, refund = refund, release = release, cut = cut, available = available, full = full, adopt = adopt, taken = taken, save = save,
  }
end
