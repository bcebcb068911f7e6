-- @include "ledger/newest"
-- @include "ledger/pace"
-- @include "ledger/debts"

-- Moves reservations to earlier moments after refunds. The twin of src/stores/memory/moveUp.ts.

local moveUp

do
  -- The least time between two moves: milliseconds.
  local LEAST_PAUSE = 100

  -- The first moment from `t` on whose reservations can be cut without a loss: those in the fixed window of `t` would count there
  -- until it ends. If its permits are taken more slowly than at the full rate, they are enough all the same.
  local function cutFrom(state, t)
    local place, window = 1, state
    while window and window.start >= t do
      place, window = place + 1, state.earlier[place]
    end
    if not window or t >= window.stop or t > window.newest then return t end
    local isFast = (window.newest - window.start) * state.permits <= window.used * state.interval
    return isFast and window.stop or t
  end

  -- If permits were refunded, voids the reservations so far ahead that their clients call again in time. All of
  -- these clients then reserve again, for earlier moments.
  function moveUp(ledger, instant, serverUs)
    local now = instant.now
    if ledger.freed == 0 or now < ledger.movedAt + LEAST_PAUSE then return end
    -- Void are the reservations behind the slot of the last valid moment: a log keeps a whole slot, with all that is in it.
    local noticeUntil = now + NOTICE_PERIOD
    local slotEnd = noticeUntil
    for _, state in ipairs(ledger.limits) do
      if state.coarsest then slotEnd = math.ceil((slotEnd - 1) / state.coarsest) * state.coarsest + 1 end
    end
    local after = slotEnd
    for _, state in ipairs(ledger.limits) do
      if state.earlier then after = cutFrom(state, after) end
    end
    -- After a change of the rate in this millisecond, an old window may count at the end of the notice period.
    local kept = math.max(after - 1, noticeUntil)
    -- Clients that wait for a bucket take refunded permits ahead of the reservations, unless its permits are rare.
    if now < ledger.pacedUntil and not hasWindow(ledger) and not areRare(ledger) then return end
    if newestOf(ledger, nil, false) <= kept then return end
    -- The clients that reserve again get the refunded permits, and need not keep the pace for them.
    ledger.credit, ledger.freed, ledger.movedAt = ledger.freed, 0, now
    voidReservations(ledger, now, after, serverUs, kept)
    -- Permits that are free need not wait for the end of a long slot.
    if after <= slotEnd then
      for _, state in ipairs(ledger.limits) do
        if state.coarsest then state.newest = math.min(state.newest, noticeUntil) end
      end
    end
    chargeDebts(ledger, instant)
  end
end
