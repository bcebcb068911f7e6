-- How fast windows are granted while several clients wait. The twin of src/stores/memory/pace.ts.

-- Under contention a window grants at most at 1/0.8 of its rate, so that no burst comes back every interval.
local PACING = 0.8
-- The share of refunds is taken over so many milliseconds of the full rate, and over so many requests, or more.
local MEMORY = 1000
local REQUESTS = 16
-- The least part of its stride that a request moves the frontier by.
local LEAST_PART = 0.05

-- Milliseconds that a request takes of its limits' full rate: of the slowest of them.
local function loadOf(ledger, cost)
  local load = 0
  for i = 1, #cost do
    local n, state = cost[i], ledger.limits[i]
    if n > 0 then load = math.max(load, n * state.interval / state.permits) end
  end
  return load
end

-- Milliseconds by which a request moves the frontier: the pace counts the part that is likely to be kept.
local function strideOf(ledger, cost)
  local stride = 0
  for i = 1, #cost do
    local n, state = cost[i], ledger.limits[i]
    if n > 0 and state.kind ~= 't' then
      stride = math.max(stride, PACING * n * state.interval / state.permits)
    end
  end
  if ledger.granted > 0 then stride = stride * math.max(LEAST_PART, 1 - ledger.returned / ledger.granted) end
  return stride
end

-- Counts requests that were granted or booked at a pace.
local function noteGranted(ledger, cost, count)
  local load = loadOf(ledger, cost)
  ledger.granted = ledger.granted + load * count
  if ledger.granted <= math.max(MEMORY, REQUESTS * load) then return end
  ledger.granted, ledger.returned = ledger.granted / 2, ledger.returned / 2
end

-- Moves the pace back by what is given back: by its whole stride where its moment lies ahead, else by what it is likely to
-- be next time.
local function noteReturned(ledger, now, cost, count, isAhead)
  local load = loadOf(ledger, cost) * count
  if isAhead then
    ledger.frontier = math.max(now, ledger.frontier - strideOf(ledger, cost) * count)
    ledger.granted = math.max(0, ledger.granted - load)
  else
    ledger.returned = math.min(ledger.granted, ledger.returned + load)
  end
end

-- Counts what has come back of grants: a window's worth at most.
local function noteFreed(ledger, cost, count)
  local longest = 0
  for i = 1, #ledger.limits do longest = math.max(longest, ledger.limits[i].interval) end
  ledger.freed = math.min(longest, ledger.freed + loadOf(ledger, cost) * count)
end
