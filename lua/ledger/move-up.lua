-- @include "ledger/newest"

-- The twin of src/stores/memory/moveUp.ts.

-- The least time by which the line moves up, and the least time between two such moves: milliseconds.
local LEAST_MOVE = 20
local LEAST_PAUSE = 100

-- While several clients wait and permits have come back, makes void what is booked so far ahead that its clients hear of
-- it in time: all of them book again, and earlier.
local function moveUp(ledger, now, serverUs)
  if ledger.freed == 0 or now >= ledger.pacedUntil or now < ledger.movedAt + LEAST_PAUSE then return end
  local shortest, all = math.huge, {}
  for i, state in ipairs(ledger.limits) do shortest, all[i] = math.min(shortest, state.interval), 1 end
  if ledger.freed < math.max(LEAST_MOVE, shortest / 100) then return end
  if newestOf(ledger, all, false) <= now + HEARD then return end
  -- What has come back is there for all who book again: none of them has to keep a pace for it.
  ledger.credit, ledger.freed, ledger.movedAt = ledger.freed, 0, now
  voidBookings(ledger, now, now + HEARD, serverUs)
end
