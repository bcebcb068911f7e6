-- How far ahead a client may reserve. The twin of src/stores/memory/share.ts.

local shareOf, noteLarge

do
  -- Milliseconds of load that all contenders but one may reserve beside a large request.
  local MOST_BESIDE = 4000

  -- Contenders share the longest horizon of any of them, or those with short round trips would get less. Each may reserve
  -- as much as the largest request of another, or small requests would be granted one at a time between large ones.
  function shareOf(ledger, horizon, contenders, now)
    if contenders == 1 then return horizon end
    local share = (ledger.farthestUntil > now and math.max(horizon, ledger.farthest) or horizon) / contenders
    if ledger.largestUntil <= now then return share end
    return math.max(share, math.min(ledger.largest, math.max(ledger.largest, MOST_BESIDE) / (contenders - 1)))
  end

  -- A contender has a request of at least its share. The largest one counts until a moment.
  function noteLarge(ledger, load, till)
    if load < ledger.largest and ledger.largestUntil > ledger.seen then return end
    ledger.largest, ledger.largestUntil = load, till
  end
end
