-- @include "ledger/offer"

-- The twin of `offerAhead` in src/stores/memory/offer.ts.

local offerAhead

do
  -- The first moment from `t` on that is free in the limits, each of which may move it, ahead of reservations further ahead than the
  -- horizon.
  local function freeFrom(ledger, instant, cost, t, horizon)
    for i = 1, #cost do
      local n, state, now = cost[i], ledger.limits[i], instant.now
      if n > 0 then
        local algebra = algebraOf(state.kind)
        local moment = algebra.earliest(state, now, instant.at, n)
        t = moment <= now + horizon and math.max(t, moment) or algebra.freeBefore(state, t, n)
      end
    end
    return t
  end

  -- The same as `offer`, ahead of reservations further ahead than the horizon, for one request: those that wait for other limits of a
  -- record would hold up clients that do not need these. All reservations keep their moments. Nothing if no moment earlier than
  -- `before` is known.
  function offerAhead(ledger, instant, cost, stride, after, before, horizon)
    local frontier = stride > 0 and math.floor(frontierOf(ledger, cost)) or 0
    local free = freeFrom(ledger, instant, cost, math.max(instant.now, ledger.pausedUntil, after, frontier), horizon)
    local t = math.max(instant.at, free)
    -- Written so that a NaN is no offer.
    if not (t < before and freeFrom(ledger, instant, cost, t, horizon) <= t) then return end
    return t, free <= instant.now and 0 or t * 1000 - instant.us
  end
end
