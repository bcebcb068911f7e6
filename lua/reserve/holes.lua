-- @include "reserve/opened"
-- @include "ledger/add-hole"

-- Requests that take over holes. The twin of src/stores/memory/holes.ts.

local holeFor, roomIn, fillHole, bringForward

if #ledger.holes > 0 then
  local function fits(cost, into)
    for i = 1, #cost do
      if cost[i] > into[i] then return false end
    end
    return true
  end

  -- The earliest hole from `from` on and before `before` that a request of this cost fits into.
  function holeFor(ledger, from, before, cost)
    for _, hole in ipairs(ledger.holes) do
      if hole.moment >= from and hole.moment < before and fits(cost, hole.cost) then return hole end
    end
    return nil
  end

  -- The number of requests of this cost that a hole has room for: in one of its reservations, if these are larger.
  function roomIn(hole, cost)
    if sameCost(hole.cost, cost) then return hole.count end
    local room = math.huge
    for i = 1, #cost do
      if cost[i] > 0 then room = math.min(room, math.floor(hole.cost[i] / cost[i])) end
    end
    return room
  end

  -- Lets `count` requests of this cost take over a hole. Of a larger reservation, the rest stays a hole.
  function fillHole(ledger, hole, cost, count, now)
    local same, rest, left = sameCost(hole.cost, cost), {}, 0
    hole.count = hole.count - (same and count or 1)
    for i, other in ipairs(ledger.holes) do
      if other == hole and hole.count == 0 then table.remove(ledger.holes, i) end
    end
    if same then return end
    for i = 1, #cost do
      rest[i] = hole.cost[i] - cost[i] * count
      left = left + rest[i]
    end
    if left > 0 and not addHole(ledger, hole.moment, rest, 1) then
      giveHoleBack(ledger, { moment = hole.moment, cost = rest, count = 1 }, now)
    end
  end

  -- Refunds a part of a hole, whose permits are granted to a request of this cost at an earlier moment instead.
  function bringForward(ledger, hole, cost, now)
    fillHole(ledger, hole, cost, 1, now)
    giveHoleBack(ledger, { moment = hole.moment, cost = cost, count = 1 }, now)
  end
end
