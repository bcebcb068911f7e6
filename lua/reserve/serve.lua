-- @include "reserve/gaps"
-- @include "reserve/queueing"

-- Grants or reserves the permits of a run, as far as the client's share goes. The twin of src/stores/memory/serve.ts.

local serve

if not earlier then
  local NEVER = -2
  -- To a client that would, a reply with so many segments reserves no more moments: a call takes milliseconds at most.
  local MOST_SEGMENTS = 512
  -- Milliseconds until the moment for the requests beyond a client's part of a bucket's free permits.
  local NEXT_CALL = 2
  -- Of no more permits than this, sums are exact.
  local MOST_TAKEN = 2 ^ 53 - 1

  -- How many requests of a cost may still be granted at once.
  local function quotaFor(cost, hasQuota)
    return hasQuota and quotaOf(cost) or math.huge
  end

  -- If the share is as much as a larger request of another client, one more request is reserved only if this part of it has room:
  -- otherwise a client with requests of a little less than the largest would reserve twice as much as the one with these. It is
  -- less than half, for which clients call.
  local LEAST_ROOM = 0.49

  -- How many requests may be reserved: as far as the client's share goes, but one at least, and so that the permits in the log of
  -- each sliding window have an exact sum.
  local function roomFor(cost)
    local load = loadOf(ledger, cost)
    local beyond = share > horizon / contenders and math.min(load, share) * LEAST_ROOM or 0
    local room = math.max(held > 0 and 0 or 1, math.ceil((share - beyond - held) / load))
    for i, state in ipairs(ledger.limits) do
      if state.kind == 's' and cost[i] > 0 then room = math.min(room, math.floor((MOST_TAKEN - state.total) / cost[i])) end
    end
    return room
  end

  -- Grants requests of a run, at most `most`, at the moment `t` that was offered, and returns their number: 0 if there is no
  -- room.
  local function grant(run, most, t, wait, hole, fit, strides, stride, hasQuota)
    local cost, load = run.cost, wait > 0 and loadOf(ledger, run.cost)
    local granted = hole and math.min(roomIn(hole, cost), most)
    if not load then most = math.min(quotaFor(cost, hasQuota), most) end
    granted = granted or fit and fit(most) or fitAll(ledger, now, load and t or now, cost, most)
    if not (granted >= 1) then return 0 end
    if hole then
      fillHole(ledger, hole, cost, granted, now)
    else
      granted = grantAll(ledger, instant, t, cost, strides, stride, granted)
    end
    if paced and stride == 0 then noteGranted(ledger, cost, granted) end
    if load then
      held, after = held + load * granted, math.max(after, t)
      if contenders > 1 and load >= share then noteLarge(ledger, load, t + CONTENDER_PERIOD) end
    else
      if hasQuota then spend(cost, granted) end
      if turns then noteTaken(ledger, cost, granted) end
    end
    if inOrder and (load or not hasQuota) then taken = taken + loadOf(ledger, cost) * granted end
    if ordered then goBehind(cost) end
    answer(granted, wait)
    return granted
  end

  function serve(run)
    local cost, remaining, again = run.cost, run.count, 0
    if isTooMuch(ledger, cost) then return answer(remaining, NEVER) end
    local strides, stride = nil, 0
    -- In order, one that refunds at once would be granted each permit again without a pace, and clients of one limit of a record
    -- would take what others need for another one.
    local isFree = turns or inOrder and #ledger.limits == 1 and isRecent(ledger, ledger.lateAt)
    if paced and not isFree then strides, stride = stridesOf(ledger, cost) end
    -- The pace divides the permits of windows. A request that may not wait for its client's next call is granted at
    -- once.
    local callsAgain = turns and MOST_TURN or NEXT_CALL
    local hasQuota = sharesFree and stride == 0 and run.maxWait >= callsAgain * 1000
    while remaining > 0 do
      -- Without others, and with no reservation of this client, none stands.
      local t, wait = offer(ledger, instant, cost, stride, after, others == 0 and last == 0)
      local ahead, soonest, fit
      if #ledger.limits > 1 and t > now + horizon then
        ahead, soonest, fit = offerAhead(ledger, instant, cost, stride, after, t, horizon)
        if ahead then t, wait = ahead, soonest end
      end
      -- A refunded reservation before `t` can be taken over without moving any other reservation.
      local hole = wait > 0 and holeFor and holeFor(ledger, math.max(now + 1, ledger.pausedUntil, after), t, cost)
      -- A request that may not wait must not overtake queued ones, and a client's request must not overtake the
      -- client's own reservations.
      local mayOvertake = wait > 0 and run.maxWait > 0 and not left and after <= now and not barred and gaps < MOST_GAPS
        and not (ordered and leavesToOthers(cost))
      if mayOvertake and quotaFor(cost, hasQuota) > 0 and takeGap(ledger, instant, cost, hole) then
        answer(1, 0)
        remaining, gaps = remaining - 1, gaps + 1
        if hasQuota then spend(cost, 1) elseif inOrder then taken = taken + loadOf(ledger, cost) end
        if ordered then goBehind(cost) end
      elseif ordered and staysQueued(cost, wait, t, run.maxWait) then
        return queue(run, remaining, t)
      elseif wait == 0 and quotaFor(cost, hasQuota) <= 0 then
        if turns then return queue(run, remaining, t) end
        -- A bucket grants the next requests after the calls of this millisecond.
        after = instant.at + 1
      else
        if hole then
          t = hole.moment
          wait = math.min(t * 1000 - instant.us, MOST_WAIT)
        end
        -- A request that may not wait never overtakes queued requests, even if its permits are free.
        if wait > run.maxWait or (left and run.maxWait == 0) then return answer(remaining, -2 - math.max(1000, wait)) end
        local most = wait > 0 and math.min(remaining, roomFor(cost)) or remaining
        left = left or most < 1 or (wait > 0 and horizon > LONGEST_HORIZON and #reply >= 7 + 2 * MOST_SEGMENTS)
        if left then return answer(remaining, LEFT) end
        local granted = grant(run, most, t, wait, hole, fit, strides, stride, hasQuota)
        remaining = remaining - granted
        -- The list of a log has turned out to be another one: its permits count for longer than when they were offered. A
        -- damaged key must not keep this loop, and so the server, busy for ever.
        if granted == 0 then again = again + 1 end
        if again > #logs then refuseKey(KEYS[1], LEDGER_SAYS, 'a limit that grants nothing when it is free') end
      end
    end
  end
end
