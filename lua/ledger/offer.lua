-- @include "ledger/newest"
-- @include "ledger/pace"

-- What the limits of a ledger can grant together, and when. Shared by reserve and decide, as in
-- src/stores/memory/offer.ts.

-- Whether a limit could never grant so much.
local function isTooMuch(ledger, cost)
  for i = 1, #cost do
    local n, state = cost[i], ledger.limits[i]
    if n > (state.burst or state.permits) then return true end
  end
  return false
end

-- The first moment, `after` or later, at which every limit can grant the cost, and the wait until then in microseconds.
local function offer(ledger, instant, cost, stride, after)
  local free = math.max(instant.now, ledger.pausedUntil, after)
  for i = 1, #cost do
    local n, state = cost[i], ledger.limits[i]
    if n > 0 then
      local moment = algebraOf(state.kind).earliest(state, instant.now, instant.at, n)
      -- So that a number that is none is kept, and refused.
      if not (moment <= free) then free = moment end
    end
  end
  if not inRange(free, free) then error('a limit knows no moment', 0) end
  if stride > 0 then free = math.max(free, math.floor(ledger.frontier), newestOf(ledger, cost, true)) end
  local t = math.max(instant.at, free)
  -- Free by the time rounded down: granted now, though its moment is rounded up.
  if free <= instant.now then return t, 0 end
  -- What a reply can hold, of a wait of many thousand years.
  return t, math.min(t * 1000 - instant.us, 2 ^ 62)
end

-- Of several limits, the index from 0 on of the one that refuses the cost for longest, if any of them does.
local function refusingOf(ledger, instant, cost)
  local refusing, latest = nil, instant.now
  for i = 1, #cost > 1 and #cost or 0 do
    local n, state = cost[i], ledger.limits[i]
    if n > 0 then
      local free = algebraOf(state.kind).earliest(state, instant.now, instant.at, n)
      if free > latest then refusing, latest = i - 1, free end
    end
  end
  return refusing
end

-- How many requests can be granted at the moment, of at most `most`.
local function fitAll(ledger, now, t, cost, most)
  local count = most
  for i = 1, #cost do
    local n, state = cost[i], ledger.limits[i]
    if n > 0 then
      local fits = algebraOf(state.kind).fit(state, now, t, n)
      if not (fits >= count) then count = fits end
    end
  end
  return count
end

-- Whether the windows that the cost is charged to have room for it before a moment: then that only keeps the order.
local function hasRoomBefore(ledger, instant, t, cost)
  if t <= instant.at then return false end
  for i = 1, #cost do
    local n, state = cost[i], ledger.limits[i]
    if n > 0 and state.kind ~= 't' then
      local algebra, hasRoom = algebraOf(state.kind), false
      -- A log's first moment is never before its newest one.
      if state.kind == 'f' then
        hasRoom = algebra.earliest(state, instant.now, instant.at, n) < t
      else
        hasRoom = algebra.fit(state, instant.now, t - 1, n) >= 1
      end
      if not hasRoom then return false end
    end
  end
  return true
end

-- Records so many requests at a moment, in every limit that they are charged to.
local function commitAll(ledger, now, t, cost, count)
  for i = 1, #cost do
    local n, state = cost[i], ledger.limits[i]
    if n > 0 then algebraOf(state.kind).commit(state, now, t, n * count) end
  end
end
