-- @include "reserve/holes"

-- Grants ahead of the reservations. The twin of src/stores/memory/gaps.ts.

-- The most requests that a call grants in this way, so that it takes little of the server.
local MOST_GAPS = 64

local takeGap

do
  local function hasGap(ledger, instant, cost, before, isFreed, hole)
    for i = 1, #cost do
      local n, state = cost[i], ledger.limits[i]
      if n > 0 then
        local unused = hole and hole.cost[i] * hole.count or 0
        -- Without a refund, a window has free permits only because the pace holds grants back.
        if not isFreed and state.kind ~= 't' then return false end
        if not algebraOf(state.kind).hasGap(state, instant.now, instant.at, n, before, isFreed, unused) then return false end
      end
    end
    return true
  end

  -- Milliseconds of load that came back and may be granted ahead of the reservations. Without contention, only that for which
  -- reservations became void: of a coarse slot of a log only its end is known, so a valid reservation might still be in it. Before
  -- a debt, all that came back to a fixed window.
  local function freedOf(ledger, isPaced)
    if isPaced then return ledger.freed end
    return hasKind(ledger, 'f') and not hasKind(ledger, 's') and math.max(ledger.freed, ledger.credit) or ledger.credit
  end

  -- Grants a request now, ahead of all reservations, if refunded permits are free that no reservation needs;
  -- otherwise they would stay unused until the last reservation is due. If there is no room, refunding a hole
  -- further ahead may make room: behind a hole far ahead, permits may have been free for as long as its
  -- reservation waited for more. Reservations keep their moments. Returns whether the request was granted.
  -- Without contention, only those of `freedOf`, or before holes far ahead, are granted.
  function takeGap(ledger, instant, cost, hole)
    local now, load = instant.now, loadOf(ledger, cost)
    local isPaced = now < ledger.pacedUntil
    local isFreed = freedOf(ledger, isPaced) >= load
    local isFar = hole and hole.moment > now + NOTICE_PERIOD
    if not (isPaced or isFreed or isFar) or ledger.pausedUntil > now then return false end
    local isFree = (isPaced or isFreed) and hasGap(ledger, instant, cost, math.huge, isFreed)
    if not isFree and not (hole and hasGap(ledger, instant, cost, hole.moment, isFreed or isFar, isFar and hole)) then return false end
    commitAll(ledger, now, instant.at, cost, 1)
    if not isFree then bringForward(ledger, hole, cost, now) end
    noteTaken(ledger, cost, 1)
    if isPaced then
      noteGranted(ledger, cost, 1)
    else
      ledger.credit = math.max(0, ledger.credit - load)
    end
    return true
  end
end
