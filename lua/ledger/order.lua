-- @include "ledger/pace"

-- Whether contenders take turns to share the permits that come back. The twin of src/stores/memory/order.ts.

local shortestInterval, isShort, isSlow, orderOf, goOnInTurns, leavesFree

do
  -- Clients take turns until so many milliseconds after they began to, or after the last refund since then.
  local TURNS_PERIOD = 3000
  -- They begin to when reservations move up; or, if at most this part of the permits is kept, with a refund that comes
  -- later after its grant than this part of the interval. Slow requests begin to if so much of a sliding window is kept, or
  -- as soon as many permits of a fixed one are refunded.
  local FEW_KEPT = 0.25
  local SLOW_KEPT = 0.5
  local LATE_PARTS = 10
  -- If many permits are refunded, clients wait in order instead while fewer requests than this are granted in an interval,
  -- refunded ones among them, or while fewer than this fit into a fixed one; while a request takes at least so many
  -- milliseconds; and while one is large.
  local LEAST_REQUESTS = 12
  local LEAST_IN_FIXED = 9
  -- In a short interval, they also wait in order if one request of each takes more than this part of it, or than the kept
  -- part: nearly all permits are reserved then before they come back. Slow requests do if they take all of it, unless few are
  -- kept. Not requests that take less than `LEAST_ORDERED` milliseconds, as so many more calls would cost more than the
  -- permits that stay unused.
  local MOST_RESERVED = 0.45
  local LEAST_ORDERED = 5
  -- While permits of requests that take so many milliseconds come back late, and more than this part is kept, clients that
  -- wait in order are granted free permits one after the other. If fewer are kept, most permits that one of them leaves would
  -- stay unused.
  local LEAST_LATE = 125
  local LEAST_KEPT = 0.3
  local MOST_LOAD = 200
  -- In long intervals, they take turns all the same, as they would wait for most of it: milliseconds.
  local LONG_INTERVAL = 10000
  -- Of requests that take at least so many milliseconds at the full rate, few are granted between two calls.
  local SLOW_REQUEST = 40

  function shortestInterval(ledger)
    local shortest = math.huge
    for _, state in ipairs(ledger.limits) do shortest = math.min(shortest, state.interval) end
    return shortest
  end

  -- Whether an interval is so short that its permits come faster than clients call in a long one.
  function isShort(ledger)
    return shortestInterval(ledger) < LONG_INTERVAL
  end

  -- Whether few requests of a load are granted between two calls of a client that takes turns in a short interval.
  function isSlow(ledger, load)
    return load >= SLOW_REQUEST and load < MOST_LOAD and isShort(ledger)
  end

  -- The load of a permit of the slowest limit: milliseconds.
  local function slowestLoad(ledger)
    local load = 0
    for _, state in ipairs(ledger.limits) do load = math.max(load, state.interval / state.permits) end
    return load
  end

  -- Whether the permits of a window are enough for turns, with requests that take at least so many milliseconds.
  local function mayTakeTurns(ledger, least)
    if not hasWindow(ledger) then return false end
    if not isShort(ledger) or not areReturned(ledger) then return true end
    local load = math.max(least, slowestLoad(ledger))
    local room = hasKind(ledger, 'f') and load * LEAST_IN_FIXED or keptLoad(ledger, load) * LEAST_REQUESTS
    return load < MOST_LOAD and room <= shortestInterval(ledger) and not hasLarge(ledger, MOST_LOAD)
  end

  -- Whether a short interval has so few permits for the contenders that reservations would leave refunded ones unused.
  local function areFew(ledger, contenders)
    if not hasWindow(ledger) or not isShort(ledger) or not areReturned(ledger) then return false end
    -- A client without a ticket is behind all others.
    if contenders > MOST_TICKETS then return false end
    local load, kept = slowestLoad(ledger), keptPart(ledger)
    local most = kept > FEW_KEPT and isSlow(ledger, load) and 1 or math.max(MOST_RESERVED, kept)
    return load >= LEAST_ORDERED and load * contenders > most * shortestInterval(ledger)
  end

  -- Whether permits have been refunded lately to windows whose reservations conflict with granting them again. Contenders
  -- then take turns: they reserve nothing beyond the notice period, and each call is granted its client's part of the
  -- permits that are free.
  local function takeTurns(ledger, now)
    return ledger.movedAt ~= 0 and now < ledger.movedAt + TURNS_PERIOD and mayTakeTurns(ledger, 0)
  end

  -- Whether contenders take turns, and else whether they wait in order: if neither is needed, they wait for their
  -- reservations.
  function orderOf(ledger, now, contenders)
    if takeTurns(ledger, now) then return true, false end
    return false, areFew(ledger, contenders) or areRare(ledger)
  end

  local function fewKept(ledger, load)
    if not isSlow(ledger, load) then return keptPart(ledger) <= FEW_KEPT end
    if hasKind(ledger, 'f') then return areReturned(ledger) end
    return keptPart(ledger) <= SLOW_KEPT
  end

  -- Whether a late refund begins turns, or is noted where clients wait in order.
  local function noted(ledger, now, load)
    if not mayTakeTurns(ledger, load) then return load >= LEAST_LATE and hasWindow(ledger) end
    -- Further ahead, reservations move up first.
    return fewKept(ledger, load) and newestOf(ledger, nil, false) <= now + NOTICE_PERIOD
  end

  -- A grant was refunded, so many milliseconds after it: turns go on, or begin if many come as late. Where clients wait in
  -- order, it is noted that one came late.
  function goOnInTurns(ledger, now, age, load)
    local late = shortestInterval(ledger) < age * LATE_PARTS
    if late and noted(ledger, now, load) or takeTurns(ledger, now) then ledger.movedAt = now end
  end

  -- Whether a client that waits in order, and has been granted `ahead` milliseconds of load more than the waiting one that has
  -- been granted least, leaves it what is free: otherwise one that refunds late would take each permit again before the others
  -- call.
  function leavesFree(ledger, now, ahead, load)
    return ahead >= load and now < ledger.movedAt + TURNS_PERIOD and keptPart(ledger) > LEAST_KEPT
  end
end
