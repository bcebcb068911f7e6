-- @include "reserve/turns"

-- What one call of a contender may be granted of the permits that are free. The twin of src/stores/memory/quota.ts.

-- What is left of the client's part in milliseconds of load, or nil before its first request.
local part

-- How many requests of a cost the call may still be granted at once: its client's part of the permits that were free at its
-- first request, and at least that one, or in turns what others do not claim. A client that refunds permits would otherwise
-- take them all again with its next call, before any other client calls.
local function quotaOf(cost)
  local load, fitting = loadOf(ledger, cost), fitAll(ledger, now, now, cost, math.huge)
  if not part then
    free = fitting
    part = math.max(load, free * load / contenders)
  end
  if turns then return grantedInTurn(fitting, load) end
  return math.ceil(part / load)
end

-- Counts requests that the call was granted of its quota.
local function spend(cost, count)
  local load = loadOf(ledger, cost) * count
  part, taken = part - load, taken + load
end
