-- @include "ledger/holes"

-- Reservations that become holes, in a refund and where a request takes over a part of one. The twin of
-- src/stores/memory/holes.ts.

local function sameCost(a, b)
  for i = 1, #a do
    if a[i] ~= b[i] then return false end
  end
  return true
end

-- Remembers a refunded reservation as a hole. Returns false if there are too many.
local function addHole(ledger, moment, cost, count)
  local holes, place = ledger.holes, 1
  while holes[place] and holes[place].moment <= moment do place = place + 1 end
  local before = holes[place - 1]
  if before and before.moment == moment and sameCost(before.cost, cost) then
    before.count = before.count + count
  elseif #holes >= MOST_HOLES then
    return false
  else
    table.insert(holes, place, { moment = moment, cost = cost, count = count })
  end
  return true
end
