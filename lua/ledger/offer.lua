-- @include "ledger/newest"
-- @include "ledger/frontier"
-- @include "ledger/pace"

-- The largest wait in microseconds that a reply can hold.
local MOST_WAIT = 2 ^ 62

-- Computes how many requests the limits of a ledger can grant together, and when. The twin of
-- src/stores/memory/offer.ts.

-- Whether the cost exceeds what a limit can ever grant.
local function isTooMuch(ledger, cost)
  for i = 1, #cost do
    local n, state = cost[i], ledger.limits[i]
    if n > (state.burst or state.permits) then return true end
  end
  return false
end

-- The first moment, `after` or later, at which every limit can grant the cost, if `isClear` behind no reservation; the wait
-- until then in microseconds; and the index, from 0, of the limit that is free last, if one is not free now.
local function offer(ledger, instant, cost, stride, after, isClear)
  local free, latest, limiting = math.max(instant.now, ledger.pausedUntil, after), instant.now, nil
  for i = 1, #cost do
    local n, state = cost[i], ledger.limits[i]
    if n > 0 then
      local moment = algebraOf(state.kind).earliest(state, instant.now, instant.at, n, isClear)
      -- Unlike math.max, this keeps a NaN, which is refused below.
      if not (moment <= free) then free = moment end
      if moment > latest then latest, limiting = moment, i - 1 end
    end
  end
  if not inRange(free, free) then refuseKey(KEYS[1], LEDGER_SAYS, 'a limit that is never free') end
  if stride > 0 then free = math.max(free, math.floor(frontierOf(ledger, cost)), newestOf(ledger, cost, true)) end
  local t = math.max(instant.at, free)
  -- If the permits are free at `now`, they are granted now, although the grant is recorded at `at`.
  if free <= instant.now then return t, 0, limiting end
  return t, math.min(t * 1000 - instant.us, MOST_WAIT), limiting
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

