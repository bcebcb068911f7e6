-- @include "ledger/offer"

-- The twin of `offerAhead` in src/stores/memory/offer.ts.

local offerAhead

do
  -- The first moment from `t` on that is free for so many requests in the limits, each of which may move it, ahead of reservations
  -- further ahead than the horizon.
  local function freeFrom(ledger, instant, cost, t, horizon, requests)
    for i = 1, #cost do
      local n, state, now = cost[i] * requests, ledger.limits[i], instant.now
      if n > (state.burst or state.permits) then return math.huge end
      if n > 0 then
        local algebra = algebraOf(state.kind)
        local moment = algebra.earliest(state, now, instant.at, n)
        t = moment <= now + horizon and math.max(t, moment) or algebra.freeBefore(state, t, n, instant.at)
      end
    end
    return t
  end

  -- The same as `offer`, ahead of reservations further ahead than the horizon: those that wait for other limits of a record would
  -- hold up clients that do not need these. All reservations keep their moments. The third result tells how many requests, at most
  -- `most`, are known to fit then: as many as double until they do not. Nothing if no moment earlier than `before` is known.
  function offerAhead(ledger, instant, cost, stride, after, before, horizon)
    local frontier = stride > 0 and math.floor(frontierOf(ledger, cost)) or 0
    local free = freeFrom(ledger, instant, cost, math.max(instant.now, ledger.pausedUntil, after, frontier), horizon, 1)
    local t = math.max(instant.at, free)
    -- Written so that a NaN is no offer.
    if not (t < before and freeFrom(ledger, instant, cost, t, horizon, 1) <= t) then return end
    -- What is granted now is recorded at `at`, and free at both.
    local function fits(requests)
      return freeFrom(ledger, instant, cost, t, horizon, requests) <= t
        and (free == t or freeFrom(ledger, instant, cost, free, horizon, requests) <= free)
    end
    return t, free <= instant.now and 0 or math.min(t * 1000 - instant.us, MOST_WAIT), function(most)
      local count = 1
      while 2 * count <= most and fits(2 * count) do count = 2 * count end
      return count
    end
  end
end
