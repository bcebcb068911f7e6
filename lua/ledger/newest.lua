-- The newest moment granted or reserved in any limit that the cost is charged to, or in any of these windows
-- if `windowsOnly`.
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
