-- @include "ledger/newest"
-- @include "ledger/algebras"

-- Holes: refunded reservations whose moment is before the newest one. A hole stays charged until the next
-- request of the same cost takes it over. The twin of src/stores/memory/holes.ts.

-- The most holes that are remembered, as every call that waits looks through them.
local MOST_HOLES = 32

local addHole, holeFor, fillHole, bringForward, closeHoles, closeEnd

do
  local function sameCost(a, b)
    for i = 1, #a do
      if a[i] ~= b[i] then return false end
    end
    return true
  end

  -- Remembers a refunded reservation as a hole. Returns false if there are too many.
  function addHole(ledger, moment, cost, count)
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

  -- The earliest hole of this cost from `from` on and before `before`.
  function holeFor(ledger, from, before, cost)
    for _, hole in ipairs(ledger.holes) do
      if hole.moment >= from and hole.moment < before and sameCost(hole.cost, cost) then return hole end
    end
    return nil
  end

  -- Lets `count` requests take over a hole.
  function fillHole(ledger, hole, count)
    hole.count = hole.count - count
    if hole.count > 0 then return end
    for i, other in ipairs(ledger.holes) do
      if other == hole then return table.remove(ledger.holes, i) end
    end
  end

  -- Refunds the reservations of a hole in every limit.
  local function giveHoleBack(ledger, hole, now)
    for i = 1, #ledger.limits do
      local state, n = ledger.limits[i], hole.cost[i] * hole.count
      if n > 0 then algebraOf(state.kind).refund(state, now, hole.moment, n) end
    end
  end

  -- Refunds one reservation of a hole, whose permits are granted at an earlier moment instead.
  function bringForward(ledger, hole, now)
    fillHole(ledger, hole, 1)
    giveHoleBack(ledger, { moment = hole.moment, cost = hole.cost, count = 1 }, now)
  end

  -- Refunds the holes whose moment has come and that no request has taken over.
  function closeHoles(ledger, now, till)
    while ledger.holes[1] and ledger.holes[1].moment <= till do
      giveHoleBack(ledger, table.remove(ledger.holes, 1), now)
    end
  end

  -- Refunds the holes that no reservation follows any more.
  function closeEnd(ledger, now)
    while #ledger.holes > 0 do
      local last = ledger.holes[#ledger.holes]
      if last.moment < newestOf(ledger, last.cost, false) then return end
      giveHoleBack(ledger, table.remove(ledger.holes), now)
    end
  end
end
