-- @include "ledger/newest"
-- @include "ledger/pace"

-- Moves reservations to earlier moments after refunds. The twin of src/stores/memory/moveUp.ts.

local moveUp

do
  -- The least time between two moves: milliseconds.
  local LEAST_PAUSE = 100

  -- If permits were refunded, voids the reservations so far ahead that their clients call again in time. All of
  -- these clients then reserve again, for earlier moments.
  function moveUp(ledger, now, serverUs)
    if ledger.freed == 0 or now < ledger.movedAt + LEAST_PAUSE then return end
    local hasWindow = false
    -- The last moment that stays valid: the end of a slot, as a log keeps a whole slot, with any void reservations in it.
    local last = now + NOTICE_PERIOD
    for _, state in ipairs(ledger.limits) do
      hasWindow = hasWindow or state.kind ~= 't'
      if state.coarsest then last = math.ceil(last / state.coarsest) * state.coarsest end
    end
    -- Clients that wait for a bucket take refunded permits ahead of the reservations, unless its permits are rare.
    if now < ledger.pacedUntil and not hasWindow and not areRare(ledger) then return end
    if newestOf(ledger, nil, false) <= last then return end
    -- The clients that reserve again get the refunded permits, and need not keep the pace for them.
    ledger.credit, ledger.freed, ledger.movedAt = ledger.freed, 0, now
    voidReservations(ledger, now, last + 1, serverUs, last)
    -- Permits that are free need not wait for the end of a long slot.
    for _, state in ipairs(ledger.limits) do
      if state.coarsest then state.newest = math.min(state.newest, now + NOTICE_PERIOD) end
    end
  end
end
