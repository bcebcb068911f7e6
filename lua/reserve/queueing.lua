-- @include "reserve/quota"

-- The requests that stay queued while clients wait in order, or take turns. The twin of src/stores/memory/queueing.ts.

local LEFT = -1
local takeTicket, goBehind, staysQueued, queue, leavesToOthers

if ordered then
  -- The longest client name that is kept: bytes.
  local MOST_NAME = 2048
  -- The part of a fixed window's permits that goes to the clients in front when it starts, as all come at once: those in front
  -- may have more requests.
  local AT_START = 0.5
  -- A client calls again in this part of the time if that is to be sooner.
  local SOONER = 0.5
  -- While permits come back late, a client that waits in order may have been granted so many requests more than another one. If
  -- their requests differ in size, so many shares are the most in any case: otherwise a small one would be granted for each large
  -- one.
  local LEAD_IN_ORDER = 4
  local LEAD_BESIDE = 3
  -- While no more than this part is kept, most permits that it leaves would stay unused. So it leaves them for requests of another
  -- size only, no more than one of these needs, and only after so many shares: otherwise clients with small requests would take
  -- each permit that comes back, and a large one would never be granted. Of those that come back late to a window, fewer come back.
  local LEAD_OF_FEW = 5
  local LEAST_KEPT = 0.15
  local LEAST_IN_WINDOW = 0.3

  -- Gives a client a ticket, or renews the one that it has. Its turn is that of the request for which it begins to wait,
  -- or, of clients that take turns, its next one.
  function takeTicket(ledger, new)
    local tickets = ledger.tickets
    for _, ticket in ipairs(tickets) do
      if ticket.client == new.client then
        if turns or ticket.stride <= 0 then ticket.due = new.due end
        ticket.till, ticket.stride, ticket.taken = new.till, new.stride, new.taken
        return
      end
    end
    -- Longer names would fill the ledger.
    if #tickets < MOST_TICKETS and #new.client <= MOST_NAME then tickets[#tickets + 1] = new end
  end

  -- Lets the client call again when its turn is expected, so many milliseconds after those of the clients in front: of a fixed
  -- window, as soon as it starts, or that much sooner, if that is later.
  local function callAgain(wait)
    local state, at = ledger.limits[1], now + expected + wait - horizon / 2
    if #ledger.limits == 1 and state.kind == 'f' then
      local start = state.start > now and state.start or state.stop
      if start > now and at > start then at = math.max(start, at - keptLoad(ledger, state.interval * AT_START)) end
    end
    retryAt = math.max(at, now + 1)
  end

  -- After a grant, the client's next request comes after those of the others, once it has taken its share, which is as much as
  -- their largest request. In turns, that follows from what it has taken.
  function goBehind(cost)
    if turns then return end
    local load = loadOf(ledger, cost)
    for i, ticket in ipairs(ledger.tickets) do
      if ticket.client == client and taken + load > least + share then table.remove(ledger.tickets, i) end
    end
    delay, expected, isFirst, barred = turnOf(ledger, client, now, inOrder)
    callAgain(keptLoad(ledger, load, callAtPace(ledger)))
    -- It does not wait yet, but is likely to: those behind it count with that.
    takeTicket(ledger, { client = client, due = retryAt, till = now + CONTENDER_PERIOD, stride = -load, taken = taken })
  end

  -- Whether a client that waits in order leaves the permits that are free to others, even those that are ahead of the pace: one
  -- that refunds would be granted each of its permits again before the others call. Not of several limits, of which another client
  -- may wait for another one. Nor in windows that are no longer than its horizon: others would call too late.
  function leavesToOthers(cost)
    if isFirst or turns or #ledger.limits > 1 or shortestInterval(ledger) <= horizon then return false end
    local load, kept = loadOf(ledger, cost), keptPart(ledger)
    local isMuch = kept > (hasWindow(ledger) and LEAST_IN_WINDOW or LEAST_KEPT)
    if isMuch and taken - least >= load * LEAD_IN_ORDER and isRecent(ledger, ledger.lateAt) then return true end
    local most = share * (kept > LEAST_KEPT and LEAD_BESIDE or LEAD_OF_FEW)
    local rest = kept > LEAST_KEPT and 0 or math.max(0, fitAll(ledger, now, now, cost, math.huge) - 1) * load
    for _, ticket in ipairs(ledger.tickets) do
      if ticket.stride > rest and ticket.stride ~= load and taken - ticket.taken > most then return true end
    end
  end

  -- Whether nothing but the pace of several limits delays a request. Clients that have just been granted one would wait for all
  -- others otherwise, while permits are free.
  local function isPaced(cost)
    return #ledger.limits > 1 and fitAll(ledger, now, now, cost, 1) > 0
  end

  -- Whether a request stays queued: of rare permits, only the client in front reserves, and no further ahead than its
  -- horizon, or than the kept part of a request takes; the others reserve only what the pace alone delays, within their
  -- horizons; clients that take turns reserve no more than their share, and nothing beyond their next turn, or nothing at
  -- all.
  function staysQueued(cost, wait, t, maxWait)
    if left or barred then return true end
    -- A request that may wait is granted permits that are free now. One that may not must not overtake waiting clients.
    if wait == 0 then return not isFirst and (maxWait == 0 or leavesToOthers(cost)) end
    local load = loadOf(ledger, cost)
    if not turns and not isFirst then return t - now > horizon or not isPaced(cost) end
    if not turns then return t - now > math.max(horizon, keptLoad(ledger, load)) end
    return held > 0 and held >= share or reservesNothing() or t > nextTurn(t, load)
  end

  -- Keeps the remaining requests of a run for the client's turn, or refuses them if that is too late.
  function queue(run, remaining, t)
    -- Clients that take turns share what is free, so those in front do not delay them.
    local turn = turns and t or t + delay
    local wait = math.min(math.ceil((isFirst and t or turn) * 1000 - instant.us), MOST_WAIT)
    if run.maxWait == 0 or wait > run.maxWait then return answer(remaining, -2 - math.max(1000, wait)) end
    if not left then
      local till = now + CONTENDER_PERIOD
      local load = loadOf(ledger, run.cost)
      -- In turns, its claim is smaller than the lead, so that a client whose request is too large, or needs another limit, holds up
      -- no others for ever; one whose request fits whenever a permit is free may have a larger claim. So may all in order, where
      -- a claim counts in the larger one of its request and the other client's last one: small requests would give it next to
      -- none.
      local claimed, most = taken, mostClaim(load, remaining)
      for _, ticket in ipairs(ledger.tickets) do
        claimed = math.max(claimed, ticket.taken - most * (turns and load or math.max(load, math.abs(ticket.stride))))
      end
      if turns then
        retryAt = nextTurn(t, load)
        turn = retryAt
      else
        -- Refunded permits come soon after their grants, if at all.
        local since = math.abs(now - newestOf(ledger, run.cost, false))
        local pause = math.max(keptLoad(ledger, load), since) * (callSooner(ledger) and SOONER or 1)
        callAgain(math.min(t - now, pause))
      end
      takeTicket(ledger, { client = client, due = turn, till = till, stride = load, taken = claimed })
      if load >= share then noteLarge(ledger, load, till) end
      ledger.pacedUntil = math.max(ledger.pacedUntil, till)
      left = true
    end
    answer(remaining, LEFT)
  end
end
