-- @include "ledger/newest"
-- @include "ledger/pace"
-- @include "ledger/algebras"

-- Holes: refunded reservations whose moment is before the newest one. A hole stays charged until requests that
-- fit into it take it over. The twin of src/stores/memory/holes.ts.

-- The most holes that are remembered, as every call that waits looks through them.
local MOST_HOLES = 32

-- Refunds the reservations of a hole in every limit.
local function giveHoleBack(ledger, hole, now)
  if now < ledger.pacedUntil then noteCancelled(ledger, now, hole.cost, hole.count) end
  for i = 1, #ledger.limits do
    local state, n = ledger.limits[i], hole.cost[i] * hole.count
    if n > 0 then algebraOf(state.kind).refund(state, now, hole.moment, n) end
  end
end

-- Refunds the holes whose moment has come and that no request has taken over: reservations may move up for them.
local function closeHoles(ledger, now, till)
  while ledger.holes[1] and ledger.holes[1].moment <= till do
    local due = table.remove(ledger.holes, 1)
    giveHoleBack(ledger, due, now)
    noteFreed(ledger, due.cost, due.count)
  end
end
