-- @include "limits/token-bucket/format"
-- @include "limits/token-bucket/history"

-- The token bucket, in units of 1/interval of a permit. The twin of src/limits/tokenBucket.ts.
--
-- A function that creates the functions of this limit, so that a script creates only those of the kinds it needs.

local function tokenBucket()
  local algebra = bucketFormat()
  local endLast, join, roomAfter, shorten, leave = bucketHistory()

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

  algebra.roll, algebra.earliest, algebra.fit, algebra.hasGap, algebra.commit = roll, earliest, fit, hasGap, commit
  algebra.refund, algebra.release, algebra.cut, algebra.available = refund, release, cut, available
  algebra.full, algebra.adopt, algebra.taken = full, adopt, taken
  return algebra
end
