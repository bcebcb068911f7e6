-- @include "ledger/epochs"
-- @include "ledger/format"

-- Debts: permits that were used without a grant. The twin of src/stores/memory/debts.ts.

local chargeDebts

do
  -- The largest debt that is charged, in windows or bursts.
  local MOST_DEBT = 1000
  -- The number of parts that a debt is split into, unless a part would exceed a window or a burst.
  local DEBT_PARTS = 100

  -- Remembers a debt that is charged ahead of the notice period: reservations that become void must not take it with them. If none
  -- of the limit is, the last one that is nearer: permits that are cancelled before it may be granted.
  local function remember(ledger, now, debt)
    local debts, own, last, far = {}, 0, nil, now + NOTICE_PERIOD
    for _, one in ipairs(ledger.debts) do
      if one.till > (one.limit == debt.limit and far or now) then
        debts[#debts + 1] = one
        if one.limit == debt.limit then own, last = own + 1, #debts end
      end
    end
    if own >= MOST_DEBTS then
      debts[last] = ofDebts.joined(debts[last], debt)
    elseif debt.till > far or not last then
      debts[#debts + 1] = debt
    end
    ledger.debts = debts
  end

  -- Charges permits that were used without a grant: the free ones now, and the rest in parts, each at the first moment at which it
  -- is free. No request is waiting for them.
  local function chargeDebt(ledger, instant, limit, permits)
    local state, now, at = ledger.limits[limit], instant.now, instant.at
    local algebra, most = algebraOf(state.kind), state.burst or state.permits
    -- Of no more permits than 2^52 in all, sums stay exact.
    local left = math.min(permits, MOST_DEBT * most, math.max(0, 2 ^ 52 - algebra.taken(state)))
    local part, free = math.min(most, math.ceil(left / DEBT_PARTS)), math.min(left, algebra.available(state, now, at))
    if free > 0 then algebra.commit(state, now, at, free) end
    left = left - free
    local ahead, again = { limit = limit, till = 0, permits = 0, tail = 0 }, false
    while left > 0 do
      local least = math.min(left, part)
      local t = math.max(at, algebra.earliest(state, now, at, least))
      local n = math.min(left, algebra.fit(state, now, t, 1))
      if inRange(t, t) and n >= least then
        algebra.commit(state, now, t, n)
        left = left - n
        local isSame = ofDebts.slotStart(state, t) == ofDebts.slotStart(state, ahead.till)
        ahead.permits, ahead.tail, ahead.till = ahead.permits + n, n + (isSame and ahead.tail or 0), t
      elseif again then
        refuseKey(KEYS[1], LEDGER_SAYS, 'a limit that grants nothing when it is free')
      else
        -- Once, the list of a log may turn out to be another one.
        again = true
      end
    end
    if ahead.till > now then remember(ledger, now, ahead) end
  end

  -- Charges the debts that are not charged yet, or no more, since they were charged among reservations that are void.
  function chargeDebts(ledger, instant)
    local debts = ledger.debts
    ledger.debts = {}
    for _, debt in ipairs(debts) do
      if debt.till > 0 then ledger.debts[#ledger.debts + 1] = debt end
    end
    for _, debt in ipairs(debts) do
      if debt.till == 0 then chargeDebt(ledger, instant, debt.limit, debt.permits) end
    end
  end
end
