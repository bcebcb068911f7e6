-- The newest moment granted or reserved in any limit that the cost is charged to, or in any limit if there is no
-- cost; in any of these windows if `windowsOnly`.
local function newestOf(ledger, cost, windowsOnly)
  local newest = 0
  for i, state in ipairs(ledger.limits) do
    if (not cost or cost[i] > 0) and not (windowsOnly and state.kind == 't') then
      local first = state.steps and state.steps[1]
      newest = math.max(newest, first and first.stop or state.newest or -1)
    end
  end
  return newest
end
