-- @include "ledger/newest"
-- @include "ledger/pace"

-- What the limits of a ledger can grant together, and when; used by reserve and decide. The twin of
-- src/stores/memory/offer.ts.

-- Whether the cost exceeds what a limit can ever grant.
local function isTooMuch(ledger, cost)
  for i = 1, #cost do
    local n, state = cost[i], ledger.limits[i]
    if n > (state.burst or state.permits) then return true end
  end
  return false
end

-- The first moment, `after` or later, at which every limit can grant the cost, and the wait until then in
-- microseconds.
local function offer(ledger, instant, cost, stride, after)
  local free = math.max(instant.now, ledger.pausedUntil, after)
  for i = 1, #cost do
    local n, state = cost[i], ledger.limits[i]
    if n > 0 then
      local moment = algebraOf(state.kind).earliest(state, instant.now, instant.at, n)
      -- Unlike math.max, this keeps a NaN, which is refused below.
      if not (moment <= free) then free = moment end
    end
  end
  if not inRange(free, free) then error('a limit knows no moment', 0) end
  if stride > 0 then free = math.max(free, math.floor(ledger.frontier), newestOf(ledger, cost, true)) end
  local t = math.max(instant.at, free)
  -- If the permits are free at `now`, they are granted now, although the grant is recorded at `at`.
  if free <= instant.now then return t, 0 end
  -- The largest wait that a reply can hold.
  return t, math.min(t * 1000 - instant.us, 2 ^ 62)
end

-- If one of several limits refuses the cost: the index, from 0, of the limit that refuses it for longest.
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

-- How many requests, at most `most`, can be granted at the moment `t`.
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

-- Whether all windows that the cost is charged to have room for it before `t`. If so, `t` only keeps the
-- order of requests.
local function hasRoomBefore(ledger, instant, t, cost)
  if t <= instant.at then return false end
  for i = 1, #cost do
    local n, state = cost[i], ledger.limits[i]
    if n > 0 and state.kind ~= 't' then
      local algebra, hasRoom = algebraOf(state.kind), false
      -- A sliding window's `earliest` is never before its newest reservation, so it is asked for the room
      -- just before `t`.
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

-- Records `count` requests at the moment `t` in every limit that they are charged to.
local function commitAll(ledger, now, t, cost, count)
  for i = 1, #cost do
    local n, state = cost[i], ledger.limits[i]
    if n > 0 then algebraOf(state.kind).commit(state, now, t, n * count) end
  end
end
