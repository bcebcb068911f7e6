-- What one call of a contender may be granted of the permits that are free. The twin of src/stores/memory/quota.ts.

-- How many requests of a cost the call may still be granted at once: its client's part of the permits that were
-- free at its first request, and at least that one. A client that refunds permits would otherwise take them all again
-- with its next call, before any other client calls.
--
-- A quota: `contenders`, their number; `left`, what is left of the part in milliseconds of load, or nil before the first
-- request; and `free`, how many requests could be granted then.
local function quotaOf(ledger, now, cost, quota)
  local load = loadOf(ledger, cost)
  if not quota.left then
    quota.free = fitAll(ledger, now, now, cost, math.huge)
    quota.left = math.max(load, quota.free * load / quota.contenders)
  end
  return math.ceil(quota.left / load)
end
