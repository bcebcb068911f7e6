-- @include "ledger/offer"

-- Grants requests in all limits of a ledger, at a pace under contention. The twin of
-- src/stores/memory/grant.ts.

local commitAll, grantAll, boundFrontiers

do
  -- Whether a window has room for permits before `t`. If so, `t` only keeps the order of requests.
  local function hasRoomBefore(ledger, state, instant, t, permits)
    if t <= instant.at then return false end
    local algebra = algebraOf(state.kind)
    -- A sliding window's `earliest` is never before its newest reservation, so `fit` tells whether there is room just before
    -- `t`.
    if state.kind ~= 'f' then return algebra.fit(state, instant.now, t - 1, permits) >= 1 end
    if algebra.earliest(state, instant.now, instant.at, permits) < t then return true end
    -- A reservation that waits for another limit may be in the same window, far ahead.
    return #ledger.limits > 1 and algebra.freeBefore(state, instant.at, permits, instant.at) < t
  end

  -- Moves the frontiers by the requests, at most `most`, that the pace allows at `t`. Returns their number.
  local function keepPace(ledger, instant, t, cost, strides, stride, most)
    local unpaced, count, from = math.floor(ledger.credit / stride), math.huge, {}
    for i, state in ipairs(ledger.limits) do
      from[i] = ledger.frontiers[i] or 0
      if strides[i] > 0 then
        -- If the window had room before `t`, `t` only keeps the order of requests, and the frontier does not restart there.
        from[i] = math.max(from[i], hasRoomBefore(ledger, state, instant, t, cost[i]) and instant.now or t)
        count = math.min(count, math.ceil((t + 1 - from[i]) / strides[i]))
      end
    end
    count = math.min(most, math.max(1, unpaced + count))
    -- A quotient that is rounded up would leave less than nothing, which is no number of a ledger.
    ledger.credit = math.max(0, ledger.credit - stride * math.min(count, unpaced))
    for i = 1, #from do
      from[i] = from[i] + strides[i] * math.max(0, count - unpaced)
    end
    ledger.frontiers = from
    noteGranted(ledger, cost, count)
    return count
  end

  -- Bounds each frontier by the newest reservation of its window. When a reservation is refunded, the frontier moves back by a
  -- smaller stride than it had moved forward, if many permits were refunded since.
  function boundFrontiers(ledger, now)
    local frontiers = ledger.frontiers
    for i = 1, #frontiers do
      frontiers[i] = math.min(frontiers[i], math.max(now, ledger.limits[i].newest or 0) + MOST_STRIDE)
    end
  end

  -- Records `count` requests at the moment `t` in every limit that they are charged to.
  function commitAll(ledger, now, t, cost, count, isKept)
    for i = 1, #cost do
      local n, state = cost[i], ledger.limits[i]
      if n > 0 then algebraOf(state.kind).commit(state, now, t, n * count, isKept) end
    end
  end

  -- Grants requests of one cost at the moment `t`, at most `most`, and no more than the pace allows. `isKept` tells
  -- that they are never refunded. Returns their number.
  function grantAll(ledger, instant, t, cost, strides, stride, most, isKept)
    local count = most
    if stride > 0 then count = keepPace(ledger, instant, t, cost, strides, stride, most) end
    commitAll(ledger, instant.now, t, cost, count, isKept)
    return count
  end
end
