-- @include "ledger/newest"
-- @include "ledger/algebras"

-- Reservations that were given back from the middle of the line: still charged, and free for the next request of the same
-- cost. The twin of src/stores/memory/holes.ts.

-- So many holes are remembered: each is looked at by every call that waits.
local MOST_HOLES = 32

local function sameCost(a, b)
  for i = 1, #a do
    if a[i] ~= b[i] then return false end
  end
  return true
end

-- Remembers a reservation that was given back. Whether there was room for it.
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

-- The earliest hole of a cost from one moment on, and before another.
local function holeFor(ledger, from, before, cost)
  for _, hole in ipairs(ledger.holes) do
    if hole.moment >= from and hole.moment < before and sameCost(hole.cost, cost) then return hole end
  end
  return nil
end

-- Lets requests take a hole over.
local function fillHole(ledger, hole, count)
  hole.count = hole.count - count
  if hole.count > 0 then return end
  for i, other in ipairs(ledger.holes) do
    if other == hole then return table.remove(ledger.holes, i) end
  end
end

-- Gives the reservations of a hole back to the limits.
local function giveHoleBack(ledger, hole, now)
  for i = 1, #ledger.limits do
    local state, n = ledger.limits[i], hole.cost[i] * hole.count
    if n > 0 then algebraOf(state.kind).refund(state, now, hole.moment, n) end
  end
end

-- Gives one reservation of a hole back, in exchange for a moment before it.
local function bringForward(ledger, hole, now)
  fillHole(ledger, hole, 1)
  giveHoleBack(ledger, { moment = hole.moment, cost = hole.cost, count = 1 }, now)
end

-- Gives the holes back whose moment has come by `till`, and that no request has taken over.
local function closeHoles(ledger, now, till)
  while ledger.holes[1] and ledger.holes[1].moment <= till do
    giveHoleBack(ledger, table.remove(ledger.holes, 1), now)
  end
end

-- Gives the holes back that the end of the line has come to: nothing stands behind them.
local function closeEnd(ledger, now)
  while #ledger.holes > 0 do
    local last = ledger.holes[#ledger.holes]
    if last.moment < newestOf(ledger, last.cost, false) then return end
    giveHoleBack(ledger, table.remove(ledger.holes), now)
  end
end
