-- The latest frontier of the windows that the cost is charged to, or of all if there is no cost.
local function frontierOf(ledger, cost)
  local latest = 0
  for i, frontier in ipairs(ledger.frontiers) do
    if not cost or cost[i] > 0 then latest = math.max(latest, frontier) end
  end
  return latest
end
