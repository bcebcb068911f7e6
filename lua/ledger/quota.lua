-- @include "ledger/offer"
-- @include "ledger/turns"

-- What one call of a contender may be granted of the permits that are free. The twin of src/stores/memory/quota.ts.

-- How many requests of a cost the call may still be granted at once: its client's part of the permits that were free at its
-- first request, and at least that one, or in turns what others do not claim. A client that refunds permits would otherwise
-- take them all again with its next call, before any other client calls.
--
-- A quota: the `client`; `contenders`, their number; `turns`, whether they take turns; `left`, what is left of the part in
-- milliseconds of load, or nil before the first request; `free`, how many requests could be granted then; `taken`, what the
-- client has taken in its turns, and `least`, the same of the waiting client that has taken least.
local function quotaOf(ledger, now, cost, quota)
  local load, free = loadOf(ledger, cost), fitAll(ledger, now, now, cost, math.huge)
  if not quota.left then
    quota.free = free
    quota.left = math.max(load, free * load / quota.contenders)
  end
  if quota.turns then return grantedInTurn(ledger, quota, free, load) end
  return math.ceil(quota.left / load)
end

-- Counts requests that the call was granted of its quota.
local function spend(ledger, cost, count, quota)
  local load = loadOf(ledger, cost) * count
  quota.left, quota.taken = quota.left - load, quota.taken + load
end
