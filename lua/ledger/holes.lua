-- @include "ledger/newest"
-- @include "ledger/pace"
-- @include "ledger/algebras"

-- Holes: refunded reservations whose moment is before the newest one. A hole stays charged until requests that
-- fit into it take it over. The twin of src/stores/memory/holes.ts.

-- The most holes that are remembered, as every call that waits looks through them.
local MOST_HOLES = 32

local addHole, holeFor, roomIn, fillHole, bringForward, closeHoles, closeEnd

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

  -- Refunds the reservations of a hole in every limit.
  local function giveHoleBack(ledger, hole, now)
    for i = 1, #ledger.limits do
      local state, n = ledger.limits[i], hole.cost[i] * hole.count
      if n > 0 then algebraOf(state.kind).refund(state, now, hole.moment, n) end
    end
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

  -- Refunds the holes whose moment has come and that no request has taken over: reservations may move up for them.
  function closeHoles(ledger, now, till)
    while ledger.holes[1] and ledger.holes[1].moment <= till do
      local due = table.remove(ledger.holes, 1)
      giveHoleBack(ledger, due, now)
      noteFreed(ledger, due.cost, due.count)
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
