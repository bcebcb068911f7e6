-- The pace at which windows grant while several clients wait. The twin of src/stores/memory/pace.ts.

-- The most milliseconds by which a request moves a frontier, so that a daily limit is granted soon after it resets.
local MOST_STRIDE = 1000

local hasKind, hasWindow, shortestInterval, longestInterval, loadOf, keptPart, keptLoad, areReturned, hasLarge, areRare
local stridesOf, isRecent, isLate, noteGranted, noteTaken, noteFreed, noteCancelled

do
  -- Under contention a window grants at no more than 1/0.8 of its rate, so that bursts do not repeat every
  -- interval.
  local PACING = 0.8
  -- A fixed one of which permits come back late, at no more than 1/0.4: little of it may be left to grant these again.
  local LATE_PACING = 0.4
  -- Clients take turns until so many milliseconds after they began to, or after the last refund since then. Refunds that come
  -- later than a third of the interval count for as long.
  local TURNS_PERIOD = 3000
  -- A large request moves the frontier of a sliding window by this part of the interval at most, or by as much as one permit: what
  -- is granted later expires later, so a smaller request behind it would leave permits unused in each interval.
  local STRIDE_PARTS = 12
  -- The refunded part is measured over this many milliseconds at the full rate, or over this many requests if
  -- they take longer.
  local MEMORY = 1000
  local REQUESTS = 16
  -- The least part of the permits that is taken to be kept.
  local LEAST_PART = 0.05

  -- Permits are rare if one of them, or the largest request, takes at least this many milliseconds at the full
  -- rate. In a sliding window, a permit that is granted again expires later than the next reservation needs, so
  -- fewer milliseconds suffice.
  local RARE_LOAD = 200
  local RARE_IN_SLIDING = 100
  -- That time, divided by the part of permits that is not refunded, must also be at least this many milliseconds.
  local RARE_KEPT = 500
  -- A refund is late if it comes later after its grant than this part of the interval.
  local LATE_PARTS = 10
  -- Permits are shared in another way if at most this part of them is kept, that is, not refunded.
  local MOST_KEPT = 0.875

  -- Whether a limit is of a kind.
  function hasKind(ledger, kind)
    for _, state in ipairs(ledger.limits) do
      if state.kind == kind then return true end
    end
    return false
  end

  function hasWindow(ledger)
    return hasKind(ledger, 'f') or hasKind(ledger, 's')
  end

  function shortestInterval(ledger)
    local shortest = math.huge
    for _, state in ipairs(ledger.limits) do shortest = math.min(shortest, state.interval) end
    return shortest
  end

  function longestInterval(ledger)
    local longest = 0
    for i = 1, #ledger.limits do longest = math.max(longest, ledger.limits[i].interval) end
    return longest
  end

  -- The part of the permits granted lately that was not refunded.
  function keptPart(ledger)
    return ledger.granted > 0 and 1 - ledger.returned / ledger.granted or 1
  end

  -- Whether many of the permits are refunded.
  function areReturned(ledger)
    return keptPart(ledger) <= MOST_KEPT
  end

  local function leastRare(ledger, least)
    return math.max(least, RARE_KEPT * keptPart(ledger))
  end

  -- Whether a request of so many milliseconds or more waits, and makes permits rare if many are refunded.
  function hasLarge(ledger, least)
    return ledger.largestUntil > ledger.seen and ledger.largest >= leastRare(ledger, least)
  end

  -- Whether permits are so rare, and so many are refunded, that reservations far ahead would leave them unused.
  function areRare(ledger)
    if not areReturned(ledger) then return false end
    for _, state in ipairs(ledger.limits) do
      local least = state.kind == 's' and RARE_IN_SLIDING or RARE_LOAD
      if state.interval >= state.permits * leastRare(ledger, least) or hasLarge(ledger, least) then return true end
    end
    return false
  end

  -- The load of a request: the milliseconds that its slowest limit needs at the full rate to produce the
  -- permits.
  function loadOf(ledger, cost)
    local load = 0
    for i = 1, #cost do
      local n, state = cost[i], ledger.limits[i]
      if n > 0 then load = math.max(load, n * state.interval / state.permits) end
    end
    return load
  end

  -- The part of a load that is not likely to be refunded; of windows that keep the pace, the milliseconds in which it is granted.
  function keptLoad(ledger, load, isPaced)
    return load * math.max(LEAST_PART, keptPart(ledger)) * (isPaced and PACING or 1)
  end

  -- Milliseconds by which a request moves the frontier of each limit: 0 of a bucket. Only the part of grants that is not likely
  -- to be refunded counts. Then the most of these.
  function stridesOf(ledger, cost)
    local strides, most = {}, 0
    local isFast = areReturned(ledger) and isRecent(ledger, ledger.lateAt) and hasKind(ledger, 'f')
    local pace = isFast and LATE_PACING or PACING
    for i, state in ipairs(ledger.limits) do
      local own = pace * cost[i] * state.interval / state.permits
      if state.kind == 's' then own = math.min(own, state.interval / math.min(state.permits, STRIDE_PARTS)) end
      strides[i] = state.kind == 't' and 0 or keptLoad(ledger, math.min(MOST_STRIDE, own))
      most = math.max(most, strides[i])
    end
    return strides, most
  end

  -- Whether a moment, or 0 for none, is in the last seconds.
  function isRecent(ledger, moment)
    return moment ~= 0 and ledger.seen < moment + TURNS_PERIOD
  end

  -- Whether so many milliseconds are a late age for a refund.
  function isLate(ledger, age)
    return shortestInterval(ledger) < age * LATE_PARTS
  end

  -- Counts requests that were granted or reserved at a pace.
  function noteGranted(ledger, cost, count)
    local load = loadOf(ledger, cost)
    ledger.granted = ledger.granted + load * count
    if ledger.granted <= math.max(MEMORY, REQUESTS * load) then return end
    ledger.granted, ledger.returned = ledger.granted / 2, ledger.returned / 2
  end

  -- Counts reservations that were given back before their moment: they move the frontiers back by their whole strides.
  function noteCancelled(ledger, now, cost, count)
    local strides = stridesOf(ledger, cost)
    for i, frontier in ipairs(ledger.frontiers) do
      ledger.frontiers[i] = math.max(now, frontier - strides[i] * count)
    end
    ledger.granted = math.max(0, ledger.granted - loadOf(ledger, cost) * count)
    ledger.returned = math.min(ledger.granted, ledger.returned)
  end

  -- Counts requests that were granted from the refunded permits.
  function noteTaken(ledger, cost, count)
    ledger.freed = math.max(0, ledger.freed - loadOf(ledger, cost) * count)
  end

  -- Counts the load of refunded grants, up to one interval.
  function noteFreed(ledger, cost, count)
    ledger.freed = math.min(longestInterval(ledger), ledger.freed + loadOf(ledger, cost) * count)
  end
end
