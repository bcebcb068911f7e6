-- @include "ledger/pace"

-- Whether contenders take turns to share the permits that come back, or wait in order for them. The twin of
-- src/stores/memory/order.ts.

local isShort, isSlow, orderOf, goOnInTurns, callAtPace, callSooner

do
  -- Clients begin to take turns when reservations move up; or with a late refund, if at most this part of the permits is kept,
  -- or, of slow requests, if many are refunded.
  local MOST_IN_TURNS = 0.7
  -- If many permits are refunded, clients wait in order instead while fewer requests than this are granted in an interval,
  -- refunded ones among them, or while fewer than this fit into a fixed one; while a request takes at least so many
  -- milliseconds; and while one is large. In long intervals, they take turns all the same, as that takes fewer calls.
  local LEAST_REQUESTS = 12
  local LEAST_IN_FIXED = 9
  local MOST_LOAD = 200
  -- They also wait in order, in place of turns, if at most this part of the permits is kept, and one request of each takes more
  -- than that part of the interval, and than the kept part: nearly all permits would be reserved before they come back.
  local MOST_IN_ORDER = 0.9
  local MOST_RESERVED = 0.45
  -- If at most this part is kept, so many requests are few, however few contenders there are: each is likely to be refunded and
  -- granted again. Not slow ones of a window, of which a client that refunds would get more than others; and those of a bucket,
  -- for as many contenders, only while permits come back late, as little is lost otherwise, or if one is for several permits.
  local KEPT_OF_FEW = 0.6
  local FEW_FOR_ANY = 16
  -- They also wait in order for a bucket that holds fewer of the largest requests than this, and no more than contenders. For one
  -- that holds a single permit, only if requests are slow, at most this part is kept, and what comes back is not late: that takes
  -- many calls, and a client that cancels what it reserves gets more of such a bucket than others.
  local MOST_IN_BUCKET = 8
  local MOST_IN_LEAKY = 0.8
  -- Of requests for several permits of a bucket, those that take at least so many milliseconds are slow.
  local LEAST_IN_BUCKET = 15
  -- Slow requests of a fixed window for which turns may serve do so if they take all of it, unless at most this part is kept.
  local FEW_IN_FIXED = 0.25
  -- But while permits come back later than this part of the interval, and at most `MOST_IN_TURNS` is kept, turns go before the
  -- order, unless requests are slow.
  local VERY_LATE_PARTS = 3
  -- Of a sliding window, whose turns reserve nothing, also unless requests take at least so many milliseconds.
  local LEAST_IN_SLIDING = 15
  -- Of a fixed one, also unless it has fewer of the largest requests than `LEAST_REQUESTS`, or than so many for each contender:
  -- most turns would be in vain.
  local LEAST_GRANTED = 0.5
  -- If requests take less, refunds that are not late count, too, if at most this part is kept: reservations would leave some
  -- unused.
  local FEW_SOON = 0.15
  -- While permits come back late, the first clients call again sooner, if a request takes at least so many milliseconds, and no
  -- more of them fit an interval.
  local LEAST_LATE = 500
  local MOST_LATE = 8
  -- From so many milliseconds on, an interval is long.
  local LONG_INTERVAL = 10000
  -- Of requests that take at least so many milliseconds at the full rate, few are granted between two calls.
  local SLOW_REQUEST = 40

  -- Whether the shortest interval is not long: permits come faster than clients can call for each of those that come back.
  function isShort(ledger)
    return shortestInterval(ledger) < LONG_INTERVAL
  end

  -- Whether few requests of a load are granted between two calls of a client that takes turns in a short interval: if each takes
  -- at least `least` milliseconds, or as many as a slow one.
  function isSlow(ledger, load, least)
    return load >= math.min(least or SLOW_REQUEST, SLOW_REQUEST) and load < MOST_LOAD and isShort(ledger)
  end

  -- The load of a permit of the slowest limit: milliseconds.
  local function slowestLoad(ledger)
    local load = 0
    for _, state in ipairs(ledger.limits) do load = math.max(load, state.interval / state.permits) end
    return load
  end

  -- The load of the largest request of at least a client's share that waits, or was reserved lately, or 0: milliseconds.
  local function largestLoad(ledger)
    return ledger.largestUntil > ledger.seen and ledger.largest or 0
  end

  -- Whether the permits of a window are enough for turns, with requests that take at least so many milliseconds.
  local function mayTakeTurns(ledger, least)
    if not hasWindow(ledger) then return false end
    if not isShort(ledger) or not areReturned(ledger) then return true end
    local load = math.max(least, slowestLoad(ledger))
    local room = hasKind(ledger, 'f') and load * LEAST_IN_FIXED or keptLoad(ledger, load) * LEAST_REQUESTS
    return load < MOST_LOAD and room <= shortestInterval(ledger) and not hasLarge(ledger, MOST_LOAD)
  end

  -- So many requests of a load are few, whatever the number of contenders: 0 unless they are fast, and most are refunded.
  local function fewOf(ledger, load)
    return isShort(ledger) and load < SLOW_REQUEST and keptPart(ledger) <= KEPT_OF_FEW and FEW_FOR_ANY or 0
  end

  -- Whether a bucket holds so few requests that what comes back overflows it before the last of the reservations.
  local function isSmall(ledger, state, contenders)
    local permit, kept = state.interval / state.permits, keptPart(ledger)
    local load = math.max(permit, largestLoad(ledger))
    local isLate = isRecent(ledger, ledger.lateAt)
    -- In a bucket of one permit, what comes back before a reservation is lost: that which comes late, in any case.
    if state.burst == 1 and (load < SLOW_REQUEST or kept > MOST_IN_LEAKY or isLate) then return false end
    -- Slow requests wait for long, so reservations would keep what comes back late from others; and of what comes back, those for
    -- many permits would get next to nothing, as others take it one by one. Of many clients, that takes many calls.
    local isLarge = load > slowestLoad(ledger) and isSlow(ledger, load, LEAST_IN_BUCKET)
    local waitsLong = isLarge or isLate and isSlow(ledger, load)
    if waitsLong and kept <= KEPT_OF_FEW and contenders <= FEW_FOR_ANY then return true end
    local requests = math.max(fewOf(ledger, permit), math.min(MOST_IN_BUCKET, contenders + 1))
    return state.burst * state.interval < state.permits * load * requests
  end

  -- Whether there are so few permits for the contenders that reservations would leave refunded ones unused.
  local function areFew(ledger, contenders)
    local kept = keptPart(ledger)
    -- A client without a ticket is behind all others.
    if kept > MOST_IN_ORDER or contenders > MOST_TICKETS then return false end
    for _, state in ipairs(ledger.limits) do
      if state.kind == 't' and isSmall(ledger, state, contenders) then return true end
    end
    -- In a long interval, a large request would let smaller ones wait for most of it.
    local load = math.max(slowestLoad(ledger), isShort(ledger) and largestLoad(ledger) or 0)
    local isInTurns = hasKind(ledger, 'f') and isSlow(ledger, load) and mayTakeTurns(ledger, load)
    local most = isInTurns and kept > FEW_IN_FIXED and 1 or math.max(MOST_RESERVED, kept)
    return hasWindow(ledger) and load * math.max(fewOf(ledger, load), contenders) > most * shortestInterval(ledger)
  end

  -- Whether permits have been refunded lately to windows whose reservations conflict with granting them again. Contenders
  -- then take turns: they reserve nothing beyond the notice period, and each call is granted its client's part of the
  -- permits that are free.
  local function takeTurns(ledger)
    return isRecent(ledger, ledger.movedAt) and mayTakeTurns(ledger, 0)
  end

  -- Whether turns go before the order. Not for slow requests, of which single clients would wait for long, nor if a fixed
  -- window has few of the largest requests.
  local function goFirst(ledger, contenders)
    local load = slowestLoad(ledger)
    if isSlow(ledger, load) or not isRecent(ledger, ledger.lateAt) or keptPart(ledger) > MOST_IN_TURNS then return false end
    local largest = math.max(load, largestLoad(ledger))
    if hasKind(ledger, 's') and largest >= LEAST_IN_SLIDING then return false end
    return not hasKind(ledger, 'f') or largest * math.max(LEAST_REQUESTS, contenders * LEAST_GRANTED) <= shortestInterval(ledger)
  end

  -- Whether a limit at a place is needed by a request.
  local function isNeeded(requests, i)
    for _, request in ipairs(requests) do
      if request.cost[i] > 0 then return true end
    end
    return false
  end

  -- Whether contenders with these requests take turns, and else whether they wait in order: if neither is needed, they wait for
  -- their reservations.
  function orderOf(ledger, contenders, requests)
    local all, needed = ledger.limits, {}
    for i = 1, #all do
      if isNeeded(requests, i) then needed[#needed + 1] = all[i] end
    end
    -- A rare limit would have those wait in order that do not need it.
    if needed[1] then ledger.limits = needed end
    local turns, inOrder = takeTurns(ledger), false
    if areFew(ledger, contenders) and not (turns and goFirst(ledger, contenders)) then
      turns, inOrder = false, true
    elseif not turns then
      inOrder = areRare(ledger)
    end
    ledger.limits = all
    return turns, inOrder
  end

  -- Whether so many permits are refunded that turns may begin.
  local function areEnough(ledger, load)
    if isSlow(ledger, load) then return areReturned(ledger) end
    return keptPart(ledger) <= MOST_IN_TURNS
  end

  -- A grant was refunded, so many milliseconds after it: turns go on, or begin if enough came back.
  function goOnInTurns(ledger, now, age, load)
    if shortestInterval(ledger) < age * VERY_LATE_PARTS then ledger.lateAt = now end
    local isFast = isShort(ledger) and hasKind(ledger, 's') and slowestLoad(ledger) < LEAST_IN_SLIDING
    local counts = isLate(ledger, age) or isFast and keptPart(ledger) <= FEW_SOON
    local begins = counts and mayTakeTurns(ledger, load) and areEnough(ledger, load)
    -- If reservations are further ahead, these move up first.
    begins = begins and newestOf(ledger, nil, false) <= now + NOTICE_PERIOD
    if begins or (counts or not isFast) and takeTurns(ledger) then ledger.movedAt = now end
  end

  -- Whether clients that wait in order call at the pace, not at the full rate: several windows grant at the pace in order, too.
  -- While permits come back late, few are free so soon.
  function callAtPace(ledger)
    return #ledger.limits > 1 and not hasKind(ledger, 't') and not isRecent(ledger, ledger.lateAt)
  end

  -- Whether the first clients call again sooner: permits of few a second come back at any time, and are granted again at
  -- once.
  function callSooner(ledger)
    local load = slowestLoad(ledger)
    return load >= LEAST_LATE and load * MOST_LATE >= shortestInterval(ledger) and isRecent(ledger, ledger.lateAt)
  end
end
