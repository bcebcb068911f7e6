-- The newest moment that is booked in any limit that a cost is charged to; in its windows alone, where these are asked for.
local function newestOf(ledger, cost, windowsOnly)
  local newest = 0
  for i = 1, #cost do
    local state = ledger.limits[i]
    if cost[i] > 0 and not (windowsOnly and state.kind == 't') then
      newest = math.max(newest, state.kind == 't' and state.tail or state.newest)
    end
  end
  return newest
end
