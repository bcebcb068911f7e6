-- @include "ledger/pace"

-- Whether contenders take turns to share the permits that come back, and how. The twin of src/stores/memory/turns.ts.

-- The most milliseconds between two calls of a client that takes turns.
local MOST_TURN = 1250

local isShort, takeTurns, reservesNothing, goOnInTurns, takenBy, keepClaim, grantedInTurn, nextTurn

do
  -- Clients take turns until so many milliseconds after they began to, or after the last refund since then.
  local TURNS_PERIOD = 3000
  -- They begin to when reservations move up; or, if at most this part of the permits is kept, with a refund that comes
  -- later after its grant than this part of the interval, if at least so many such requests fit into one: of few permits,
  -- turns waste more.
  local FEW_KEPT = 0.25
  local LATE_PARTS = 10
  local LEAST_REQUESTS = 40
  -- While permits are rare, clients wait in order instead, unless the interval is so long that they would wait for most
  -- of it: milliseconds.
  local LONG_INTERVAL = 10000
  -- The most milliseconds between two calls for each contender in a long interval.
  local LONG_TURN = 250
  -- In a short interval, each contender calls in the time that the kept parts of so many of its requests take: more if
  -- nothing was free, as most of its calls are in vain then.
  local REQUESTS_EACH = 1.5
  local REQUESTS_LEFT = 2.25
  -- There, a client may be ahead of another one by so many of the other's requests, if these are no larger than its own:
  -- otherwise permits for which the other one has not called yet stay unused.
  local LEAD = 5
  -- The second half of that time is divided into so many parts, a prime number.
  local PARTS = 499

  -- Whether any interval is shorter than so many milliseconds.
  local function isBelow(ledger, ms)
    for _, state in ipairs(ledger.limits) do
      if state.interval < ms then return true end
    end
    return false
  end

  -- Whether an interval is so short that its permits come faster than clients call in a long one.
  function isShort(ledger)
    return isBelow(ledger, LONG_INTERVAL)
  end

  local function mayTakeTurns(ledger)
    if isShort(ledger) and areRare(ledger) then return false end
    for _, state in ipairs(ledger.limits) do
      if state.kind ~= 't' then return true end
    end
    return false
  end

  -- Whether permits have been refunded lately to windows whose reservations conflict with granting them again. Contenders
  -- then take turns: they reserve nothing beyond the notice period, and each call is granted its client's part of the
  -- permits that are free.
  function takeTurns(ledger, now)
    return ledger.movedAt ~= 0 and now < ledger.movedAt + TURNS_PERIOD and mayTakeTurns(ledger)
  end

  -- Whether clients that take turns reserve nothing at all, if many permits are refunded. A permit of a sliding window
  -- cannot be granted again before a reservation that needs it.
  function reservesNothing(ledger)
    local slides = false
    for _, state in ipairs(ledger.limits) do slides = slides or state.kind == 's' end
    return slides and isShort(ledger) and areReturned(ledger)
  end

  -- A grant was refunded, so many milliseconds after it: turns go on, or begin if many come as late.
  function goOnInTurns(ledger, now, age, load)
    local late = isBelow(ledger, age * LATE_PARTS) and not isBelow(ledger, load * LEAST_REQUESTS)
    late = late and keptPart(ledger) <= FEW_KEPT
    -- Further ahead, reservations move up first.
    local begins = late and mayTakeTurns(ledger) and newestOf(ledger, nil, false) <= now + NOTICE_PERIOD
    if begins or takeTurns(ledger, now) then ledger.movedAt = now end
  end

  -- What a client that calls has taken in its turns, and the same of the waiting client that has taken least. One that
  -- calls for the first time has taken as much as that one; and one that did not wait since its last call has no claim to
  -- what others took meanwhile.
  function takenBy(ledger, client)
    local own, least = 0, math.huge
    for _, ticket in ipairs(ledger.tickets) do
      if ticket.client == client then own = ticket.taken end
      if ticket.stride > 0 then least = math.min(least, ticket.taken) end
    end
    if least == math.huge then least = own end
    return math.max(own, least), least
  end

  -- What a client counts as having taken whose request stays queued: its claim is no larger than that request, so that one
  -- whose request is too large, or needs another limit, holds up no others for ever.
  function keepClaim(ledger, taken, load)
    for _, ticket in ipairs(ledger.tickets) do taken = math.max(taken, ticket.taken - load) end
    return taken
  end

  -- What the others may take until each has as much as a client that has taken `taken`, with a request of `load`.
  local function keptForOthers(ledger, call, taken, load)
    local kept, others, most = 0, call.contenders - 1, isShort(ledger) and LEAD or 1
    for _, ticket in ipairs(ledger.tickets) do
      if ticket.client ~= call.client then
        others = others - 1
        local behind = taken - ticket.taken
        local larger = ticket.stride > load
        if ticket.stride > 0 and behind >= ticket.stride * (larger and 1 or most) then kept = kept + behind end
      end
    end
    -- Those that have not called yet have taken as much as the one that has taken least.
    return kept + (taken - call.least) * math.max(0, others)
  end

  -- How many requests of `load` milliseconds a client may be granted of so many that are `free`: as long as enough is left
  -- for each waiting client that has taken less to take as much. A client may be ahead of another one by its own last
  -- requests, and by less than the other's next one: permits for a larger request are saved up once the others have taken
  -- as much.
  function grantedInTurn(ledger, call, free, load)
    local granted, beyond = 0, math.max(1, free) + 1
    -- As many steps as a number has bits.
    for _ = 1, 64 do
      if granted >= beyond - 1 then break end
      local middle = math.floor((granted + beyond) / 2)
      local kept = keptForOthers(ledger, call, call.taken + (middle - 1) * load, load)
      if kept == 0 or (free - middle) * load >= kept then granted = middle else beyond = middle end
    end
    return granted
  end

  -- When a client that takes turns with its contenders is to call again: `free` requests could be granted at its call, and
  -- the next one of `load` milliseconds at `t` if no permits come back. In a short interval, all contenders call in
  -- the time that the kept parts of their requests take, and in a long one at any pace. The more are free, the sooner, as no
  -- more can be granted until then. The longer no permits have come back, the later others are likely to.
  function nextTurn(ledger, now, t, contenders, free, load)
    local each = isShort(ledger) and (free > 0 and REQUESTS_EACH or REQUESTS_LEFT) * keptLoad(ledger, load) or LONG_TURN
    -- At least a millisecond for each.
    local most = contenders * math.max(1, contenders * each / math.max(contenders, free))
    local longest = math.min(MOST_TURN, math.min(t - now, now - ledger.movedAt) + most)
    -- Different for each moment and call, so that clients do not call together for ever.
    local mixed = (now * 37 + free * 13) % PARTS
    return now + math.ceil(longest * (1 + mixed / PARTS) / 2)
  end
end
