-- @include "ledger/pace"

-- Whether contenders take turns to share the permits that come back. The twin of src/stores/memory/turns.ts.

local shortestInterval, isShort, takeTurns, goOnInTurns

do
  -- Clients take turns until so many milliseconds after they began to, or after the last refund since then.
  local TURNS_PERIOD = 3000
  -- They begin to when reservations move up; or, if at most this part of the permits is kept, with a refund that comes
  -- later after its grant than this part of the interval, if at least so many such requests fit into one: of few permits,
  -- turns waste more.
  local FEW_KEPT = 0.25
  local LATE_PARTS = 10
  local LEAST_REQUESTS = 12
  -- While permits are rare, clients wait in order instead, unless the interval is so long that they would wait for most
  -- of it: milliseconds.
  local LONG_INTERVAL = 10000

  function shortestInterval(ledger)
    local shortest = math.huge
    for _, state in ipairs(ledger.limits) do shortest = math.min(shortest, state.interval) end
    return shortest
  end

  -- Whether an interval is so short that its permits come faster than clients call in a long one.
  function isShort(ledger)
    return shortestInterval(ledger) < LONG_INTERVAL
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

  -- A grant was refunded, so many milliseconds after it: turns go on, or begin if many come as late.
  function goOnInTurns(ledger, now, age, load)
    local interval = shortestInterval(ledger)
    local late = interval < age * LATE_PARTS and interval >= load * LEAST_REQUESTS and keptPart(ledger) <= FEW_KEPT
    -- Further ahead, reservations move up first.
    local begins = late and mayTakeTurns(ledger) and newestOf(ledger, nil, false) <= now + NOTICE_PERIOD
    if begins or takeTurns(ledger, now) then ledger.movedAt = now end
  end
end
