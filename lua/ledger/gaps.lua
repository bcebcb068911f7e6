-- @include "ledger/holes"
-- @include "ledger/grant"

-- Grants ahead of the reservations. The twin of src/stores/memory/gaps.ts.

local function hasGap(ledger, instant, cost, before)
  for i = 1, #cost do
    local n, state = cost[i], ledger.limits[i]
    if n > 0 and not algebraOf(state.kind).hasGap(state, instant.now, instant.at, n, before) then return false end
  end
  return true
end

-- Grants a request now, ahead of all reservations, if refunded permits are free that no reservation needs;
-- otherwise they would stay unused until the last reservation is due. If there is no room, refunding a hole
-- further ahead may make it. Reservations keep their moments. Returns whether the request was granted.
local function takeGap(ledger, instant, cost, hole)
  local now, load = instant.now, loadOf(ledger, cost)
  -- Permits that are free only because the pace holds grants back were not refunded.
  if not (ledger.freed >= load) or now >= ledger.pacedUntil or ledger.pausedUntil > now then return false end
  if not hasGap(ledger, instant, cost, math.huge) then
    if not hole or not hasGap(ledger, instant, cost, hole.moment) then return false end
    bringForward(ledger, hole, now)
  end
  commitAll(ledger, now, instant.at, cost, 1)
  ledger.freed = ledger.freed - load
  noteGranted(ledger, cost, 1)
  return true
end
