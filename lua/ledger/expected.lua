-- @include "ledger/order"

-- The milliseconds in which a load is likely to be granted to clients that wait in order, and whether that is sooner than at the
-- full rate: several windows keep the pace, also in order. While permits come back late, few are free so soon. The twin of
-- src/stores/memory/expected.ts.
local function expectedLoad(ledger, now, load)
  local isPaced = #ledger.limits > 1 and not hasKind(ledger, 't') and not comeLate(ledger, now)
  return keptLoad(ledger, load, isPaced), isPaced
end
