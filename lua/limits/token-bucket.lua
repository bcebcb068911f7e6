-- @include "limits/token-bucket/format"
-- @include "limits/token-bucket/history"

-- The token bucket, in units of 1/interval of a permit. The twin of src/limits/tokenBucket.ts.
--
-- A function that creates the functions of this limit, so that a script creates only those of the kinds it needs.

local function tokenBucket()
  -- A request whose permits take this many milliseconds to refill may overtake reservations even if none was refunded.
  local LEAST_WAIT = 20
  -- The most units of a state.
  local MOST_UNITS = 2 ^ 53 - 1

  local algebra = bucketFormat()
  local newestIn, keep, join, roomAfter, heldAfter, leave, cutHistory, changeRate, forget = bucketHistory()
  -- @inline "limits/token-bucket/level"

  local function unitsAt(state, now)
    local cap = state.burst * state.interval
    -- Compared before multiplying, as the product of a long time would not be exact.
    if now - state.ts >= (cap - state.units) / state.permits then return cap end
    return state.units + (now - state.ts) * state.permits
  end

  -- The units that are in the bucket for requests ahead of the reservations: a lower bound.
  local function presentAt(state, now)
    return state.present or unitsAt(state, now) + heldAhead(state, now) * state.interval
  end

  -- Sets these units. Behind the reservations, no fewer are left than follow from them.
  local function setPresent(state, now, present)
    local ahead, level = heldAhead(state, now) * state.interval, math.min(state.burst * state.interval, present)
    state.present = nil
    if level <= state.units + ahead then return end
    local last = math.max(now, newestIn(state))
    state.units = math.max(state.units, levelThen(state, now, level, last) - (last - now) * state.permits)
    if level > state.units + ahead then state.present = level end
  end

  -- The level just before a grant at `t`. A reservation is made for a whole millisecond, so the refill since
  -- the fraction at which there were enough permits may exceed the capacity.
  local function levelAt(state, now, t)
    return math.min(state.burst * state.interval + state.permits - 1, unitsAt(state, now) + (t - now) * state.permits)
  end

  -- A grant made now is recorded at a time rounded up, but charged at `now`, so that a full bucket loses no
  -- refill in between.
  local function chargedAt(state, now, t, n)
    if t == now + 1 and n * state.interval <= unitsAt(state, now) then return now end
    return t
  end

  function algebra.roll(state, now, _shift, isAlone)
    -- A new grant must not join reservations whose moment has come.
    if state.lastAt > state.ts and state.lastAt <= now then state.lastAt = CLOSED end
    local present = state.present
    local level = present and not isAlone and levelThen(state, state.ts, present, now) or -math.huge
    state.units = unitsAt(state, now)
    state.ts = now
    if state.units == state.burst * state.interval and newestIn(state) < now then forget(state) end
    if present then setPresent(state, now, level) end
  end

  function algebra.earliest(state, now, at, n)
    local cost = n * state.interval
    local missing = cost - unitsAt(state, now)
    if missing <= 0 then return now end
    local t = now + math.ceil(missing / state.permits)
    -- Of more than 2^53 units, the quotient is rounded: it may be a millisecond early.
    return levelAt(state, now, t) < cost and t + 1 or t
  end

  function algebra.fit(state, now, t, n)
    return math.floor(levelAt(state, now, t) / (n * state.interval))
  end

  function algebra.hasGap(state, now, _at, n, before, isFreed)
    local cost = n * state.interval
    -- A smaller request takes refunded permits only: it soon gets its fair share of the others.
    if not isFreed and cost < LEAST_WAIT * state.permits then return false end
    return leastAhead(state, now, now, presentAt(state, now) - cost, before) >= 0
  end

  function algebra.freeBefore(state, t, n)
    return freeBefore(state, state.ts, presentAt(state, state.ts), t, n * state.interval)
  end

  -- Takes the units of a grant at `t`, and records it.
  local function charge(state, now, t, n, isKept)
    local moment = chargedAt(state, now, t, n)
    local level = levelAt(state, now, moment)
    -- If the request waits longer than its permits need, the bucket overflows. The surplus is lost.
    state.units = level - (moment - now) * state.permits - n * state.interval
    state.ts = now
    if not (isKept and keep(state, t, n)) then join(state, now, moment, t, n) end
  end

  function algebra.commit(state, now, t, n, isKept)
    -- Most grants are made without reservations: `units` tells of all permits then.
    if not state.present and math.max(newestIn(state), t) <= now + 1 then return charge(state, now, t, n, isKept) end
    local present, isAhead = presentAt(state, now), t > chargedTo(state, now)
    local ahead = heldAhead(state, now) + (isAhead and n or 0)
    charge(state, now, t, n, isKept)
    -- A reservation that has become one step with earlier grants counts as taken.
    local merged = (ahead - heldAhead(state, now)) * state.interval
    setPresent(state, now, present - (isAhead and 0 or n * state.interval) - merged)
  end

  -- No reservation is left after `last`, so the level there is not negative: every earlier reservation had its permits
  -- by then, unless permits taken under an earlier limit are still to be refilled.
  local function raiseLevel(state, now, last)
    state.units = math.max(state.units, -(math.max(now, last, state.owedUntil) - now) * state.permits)
    -- Nor is one of an earlier rate.
    state.sameSince = math.min(state.sameSince, math.max(now + 1, last) + 1)
  end

  -- How many units of a grant at `t` come back to a level that counts the grants up to `last`.
  local function backOf(state, now, t, n, level, last)
    local cost, taken = n * state.interval, state.burst * state.interval - level
    local room = roomAfter(state, now, t, n, taken, last)
    if t >= state.sameSince then
      -- At most this much was or will be refilled since `t`, up to now or that moment. No more than that can overflow, so the rest
      -- of the cost has room.
      room = math.max(room, cost - (math.max(now, last) - t + 1) * state.permits)
    end
    return math.max(0, math.min(cost, room, taken))
  end

  function algebra.refund(state, now, t, n)
    local newest = newestIn(state)
    if t > newest then return 0 end
    local present, charged = presentAt(state, now), chargedTo(state, now)
    local back = backOf(state, now, t, n, state.units, newest)
    -- Refill that is lost before a reservation is no room for what was granted before. Without one, the levels are the same.
    local last = math.min(newest, charged)
    local backNow = not state.present and last == newest and back
      or t <= charged and backOf(state, now, t, n, present, last) or 0
    state.units = state.units + back
    leave(state, t, n)
    -- A reservation that was charged when the rate changed is owed no longer.
    if t > math.max(now, state.unsureUntil) and t < state.sameSince then
      state.owedUntil = math.max(0, state.owedUntil - math.floor(n * state.interval / state.permits))
    end
    -- The refill that was lost while the reservation waited for a pause or another limit comes back.
    if t > now then raiseLevel(state, now, newestIn(state)) end
    setPresent(state, now, present + backNow)
    return back / state.interval
  end

  function algebra.release(state, now, at, n)
    local newest, reserved, interval = newestIn(state), heldAfter(state, at), state.interval
    -- Of a level that counts so many reserved permits, up to `last`.
    local function backTo(level, held, last)
      local lost = held > 0 and (last - at) * state.permits or 0
      return math.max(0, math.min(n * interval, state.burst * interval - level - held * interval) - lost)
    end
    local present, back = presentAt(state, now), backTo(state.units, reserved, newest)
    local last = math.min(newest, chargedTo(state, now))
    local backNow = backTo(present, reserved - heldAhead(state, now), last)
    state.units = state.units + back
    setPresent(state, now, present + backNow)
    return back / interval
  end

  -- Forgets reservations later than a moment.
  function algebra.cut(state, now, after)
    local taken = algebra.taken(state)
    -- A grant made now is recorded at `now` rounded up.
    local last = math.max(after, now + 1)
    -- Without grants after it, a step is refunded exactly, unless some of its reservations are void already.
    local sure = math.max(last, state.unsureUntil)
    while state.steps[1] and state.steps[1].since > sure do
      algebra.refund(state, now, state.steps[1].since, state.steps[1].held)
    end
    if newestIn(state) > after then
      raiseLevel(state, now, after)
      cutHistory(state, last)
      state.present = nil
    end
    return math.max(0, taken - algebra.taken(state))
  end

  function algebra.available(state, now)
    return math.max(0, math.floor(unitsAt(state, now) / state.interval))
  end

  function algebra.full(state, now)
    return now + math.ceil((state.burst * state.interval - unitsAt(state, now)) / state.permits)
  end

  -- The units taken; not those that the bucket lacks because refill is lost before its reservations.
  local function unitsTaken(state)
    local cap, owed = state.burst * state.interval, math.max(0, state.owedUntil - state.ts) * state.permits
    return math.min(cap - state.units, cap + heldAfter(state, state.ts) * state.interval + owed)
  end

  -- Charges units that were granted under another limit. The level may become negative: the refill covers that first.
  function algebra.owe(state, units)
    state.units = math.max(state.units - units, -MOST_UNITS)
    state.owedUntil = state.ts + math.max(0, math.ceil(-state.units / state.permits))
  end

  function algebra.adopt(state, spec)
    local former = state.interval
    -- In units of the former interval, then in those of the new one.
    local function converted(units)
      return former == state.interval and units or math.ceil(units / former * state.interval)
    end
    local missing, taken = state.burst * former - state.units, unitsTaken(state)
    local ahead, units = math.max(0, newestIn(state) - state.ts), 0
    local missingThen = missing - ahead * state.permits
    changeRate(state, state.ts)
    state.present = nil
    state.permits, state.interval, state.burst = spec[3], spec[4], spec[5]
    state.units = state.burst * state.interval
    -- Refill was lost before the newest reservation: until then, that at the new rate is lost too.
    if taken < missing then units = converted(missingThen) + ahead * state.permits end
    algebra.owe(state, math.max(converted(taken), units))
  end

  function algebra.taken(state)
    return math.ceil(unitsTaken(state) / state.interval), newestIn(state)
  end

  return algebra
end
