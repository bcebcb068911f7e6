-- @include "ledger/offer"

-- Grants requests in all limits of a ledger, at a pace under contention. The twin of
-- src/stores/memory/grant.ts.

local commitAll, grantAll, boundFrontier

do
  -- Whether all windows that the cost is charged to have room for it before `t`. If so, `t` only keeps the
  -- order of requests.
  local function hasRoomBefore(ledger, instant, t, cost)
    if t <= instant.at then return false end
    for i = 1, #cost do
      local n, state = cost[i], ledger.limits[i]
      if n > 0 and state.kind ~= 't' then
        local algebra, hasRoom = algebraOf(state.kind)
        -- A sliding window's `earliest` is never before its newest reservation, so `fit` tells whether there is
        -- room just before `t`.
        if state.kind == 'f' then
          hasRoom = algebra.earliest(state, instant.now, instant.at, n) < t
        else
          hasRoom = algebra.fit(state, instant.now, t - 1, n) >= 1
        end
        if not hasRoom then return false end
      end
    end
    return true
  end

  -- Moves the frontier by the requests, at most `most`, that the pace allows at `t`. Returns their number.
  local function keepPace(ledger, instant, t, cost, stride, most)
    -- If the windows had room before `t`, `t` only keeps the order of requests, and the frontier does not
    -- restart there.
    local from = math.max(ledger.frontier, hasRoomBefore(ledger, instant, t, cost) and instant.now or t)
    local unpaced = math.floor(ledger.credit / stride)
    local count = math.min(most, math.max(1, unpaced + math.ceil((t + 1 - from) / stride)))
    -- A quotient that is rounded up would leave less than nothing, which is no number of a ledger.
    ledger.credit = math.max(0, ledger.credit - stride * math.min(count, unpaced))
    ledger.frontier = from + stride * math.max(0, count - unpaced)
    noteGranted(ledger, cost, count)
    return count
  end

  -- Bounds the frontier by the newest reservation of any window. When a reservation is refunded, the frontier moves
  -- back by a smaller stride than it had moved forward, if many permits were refunded since.
  function boundFrontier(ledger, now)
    if ledger.frontier <= now + MOST_STRIDE then return end
    ledger.frontier = math.min(ledger.frontier, math.max(now, newestOf(ledger, nil, true)) + MOST_STRIDE)
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
  function grantAll(ledger, instant, t, cost, stride, most, isKept)
    local count = most
    if stride > 0 then count = keepPace(ledger, instant, t, cost, stride, most) end
    commitAll(ledger, instant.now, t, cost, count, isKept)
    return count
  end
end
