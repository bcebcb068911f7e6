-- @include "ledger/holes"
-- @include "ledger/offer"

-- Grants in front of what is booked. The twin of src/stores/memory/gaps.ts.

local function hasGap(ledger, instant, cost, before)
  for i = 1, #cost do
    local n, state = cost[i], ledger.limits[i]
    if n > 0 and not algebraOf(state.kind).hasGap(state, instant.now, instant.at, n, before) then return false end
  end
  return true
end

-- Grants a request at once, in front of what is booked, where permits have come back that no booked moment needs: else
-- no request would use them until the line has come to its end. A hole further ahead may make the room. What is booked keeps
-- its moment. Says whether it did.
local function takeGap(ledger, instant, cost, hole)
  local now, load = instant.now, loadOf(ledger, cost)
  -- What the pace has held back is not what came back.
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
