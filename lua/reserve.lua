-- Grants and reserves permits for a client's requests, in order, up to its fair share of the near future.
-- The twin of src/stores/memory/reserve.ts.
--
-- KEYS[1]   the ledger
-- KEYS[2]   the contenders
-- KEYS[3]   the control
-- KEYS[4…]  the log of each limit
--
-- ARGV[1]   the limits that the client expects to be in force: JSON, [[name, kind, permits, interval, extra], …]. A single
--           unnamed limit without what is the same for all of these: its kind, then the numbers; see `limitsIn`
-- ARGV[2]   1 if these were stored, 0 if they are the client's own; then the client
-- ARGV[3]   the epoch that the client knows, or 0
-- ARGV[4]   how far ahead the client would like to reserve: milliseconds at the full rate
-- ARGV[5]   0, or 3 if three numbers follow: the permits that the client has already reserved, in milliseconds at the full
--           rate; the last moment that it has reserved, in milliseconds, or 0; and the epoch of that reservation. Nothing is
--           granted or reserved before that moment. Or 4 with the same numbers, if the requests have the client's first
--           reservations, and ask for earlier ones: these are before that moment, and never in order, or in turns
-- then      the runs. Each is: the number of requests, the longest wait in microseconds or -1 for any, and the cost in
--           permits for each limit
-- Most calls are shorter: ARGV[5] is the last one, the number of requests of one permit that wait as long as necessary, and
-- the client has reserved nothing. It is left out for one request.
-- last, in tests only: the server's time in microseconds
--
-- Reply: the limits in force as text, if they differ from ARGV[1]; nothing was changed then. If all requests were granted now
-- to the only contender, and it knows the epoch: the server's time in microseconds. Otherwise a list: that time; the epoch;
-- the number of contenders; the microseconds until a pause ends, or -1; the microseconds after which reservations of the known
-- epoch are void, or -1 if none are; the microseconds after which the client is to call again for its queued requests, or
-- -1, or -2 - these microseconds if it must not call before, even if it refunds permits;
-- the microseconds of load that each contender may reserve, or -1 if that is its part of the horizon; then pairs of a number
-- of requests and their delay in microseconds, LEFT (queued), NEVER (exceeds a limit), or -2 - the wait in microseconds
-- (refused, as the wait would be too long).

-- @include "quick/reserve"
-- @include "ledger/state"
-- @include "ledger/contenders"
-- @include "ledger/grant"
-- @include "ledger/move-up"
-- @include "ledger/gaps"
-- @include "ledger/share"
-- @include "ledger/quota"
-- @include "ledger/tickets"
-- @include "ledger/turns"

local LEFT, NEVER = -1, -2
-- A client counts as a contender, and windows stay paced, for this many milliseconds after its last reservation is due, or
-- after the call that it has to make before.
local CONTENDER_PERIOD = 2000
-- No client reserves further ahead than this many milliseconds of load.
local LONGEST_HORIZON = 1000
-- To a client that would, a reply with so many segments reserves no more moments: a call takes milliseconds at most.
local MOST_SEGMENTS = 512
-- Milliseconds until the moment for the requests beyond a client's part of a bucket's free permits.
local NEXT_CALL = 2

local logs = {}
for i = 4, #KEYS do logs[i - 3] = KEYS[i] end
local client, known, horizon = ARGV[2]:sub(2), tonumber(ARGV[3]), tonumber(ARGV[4])

local position, held, lastMoment, lastEpoch, runs, waits = 6, 0, 0, 0, {}, false
local earlier = ARGV[7] and ARGV[5] == '4'
do
  local function addRun(count, maxWait, cost)
    if not (count >= 1 and count < 2 ^ 53) then error('requests that are no number of them', 0) end
    if maxWait < 0 then maxWait = math.huge end
    waits = waits or maxWait > 0
    runs[#runs + 1] = { count = count, maxWait = maxWait, cost = cost }
  end
  if not ARGV[7] then
    if ARGV[5] ~= '0' then addRun(tonumber(ARGV[5] or 1), -1, { 1 }) end
  else
    if ARGV[5] ~= '0' then
      position, held, lastMoment, lastEpoch = 9, tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
      waits = held > 0
    end
    while ARGV[position + 1] do
      local cost = {}
      for limit = 1, #logs do cost[limit] = askedPermits(ARGV[position + 1 + limit]) end
      addRun(tonumber(ARGV[position]), tonumber(ARGV[position + 1]), cost)
      position = position + 2 + #logs
    end
  end
end

local serverUs = serverTime(ARGV[position])
local ledger, instant = openLedger(KEYS, limitsIn(ARGV[1]), ARGV[2], logs, serverUs)
if not ledger then return instant end
local now = instant.now
moveUp(ledger, now, serverUs)
local contenders = countContenders(ledger, KEYS[2], client, waits, now)
local paced = contenders > 1 or now < ledger.pacedUntil
local share = shareOf(ledger, horizon, contenders, now)
-- Whether clients wait in order, and whether they take turns. If so: the turn of this one, see `turnOf`. A client that does
-- not wait is no contender, but it must not overtake clients that wait without reservations.
local mayOrder, delay, expected, isFirst, barred = contenders > 1 or (paced and not waits), 0, 0, true, false
local turns = mayOrder and takeTurns(ledger, now)
local rare = mayOrder and not turns and areRare(ledger)
local ordered = rare or turns
if ordered then delay, expected, isFirst, barred = turnOf(ledger, client, now, rare) end
boundFrontier(ledger, now)

local reply = { serverUs, ledger.epoch, contenders, pausedFor(ledger, instant), standingOf(ledger, instant, known), -1,
  share > horizon / contenders and math.floor(share * 1000) or -1 }
local left, gaps, plain = false, 0, contenders == 1 and reply[4] < 0
-- Whether a call is granted only its client's part of the free permits: without refunds, the order of calls is fair.
local sharesFree = contenders > 1 and (turns or areReturned(ledger))
-- When the client is to call again: milliseconds, or 0; and its part of the free permits: see `quotaOf`.
local retryAt, quota = 0, { client = client, contenders = contenders, turns = turns, free = 0 }
quota.taken, quota.least = takenBy(ledger, client)
-- Requests of one client keep their order.
local last, stays = lastOf(ledger, lastMoment, lastEpoch), held > 0
local after = last
if earlier then held, after = 0, 0 end
local function answer(count, delay)
  reply[#reply + 1] = count
  reply[#reply + 1] = delay
  plain = plain and delay == 0
end

do
  -- Lets the client call again when its turn is expected, so many milliseconds after those of the clients in front.
  local function callAgain(wait)
    retryAt = math.max(now + expected + wait - horizon / 2, now + 1)
  end

  -- After a grant, the client's next request comes after those of the others. In turns, that follows from what it has
  -- taken.
  local function goBehind(cost)
    if turns then return end
    dropTicket(ledger, client)
    delay, expected, isFirst, barred = turnOf(ledger, client, now, rare)
    local load = loadOf(ledger, cost)
    callAgain(keptLoad(ledger, load))
    -- It does not wait yet, but is likely to: those behind it count with that.
    takeTicket(ledger, { client = client, due = now, till = now + CONTENDER_PERIOD, stride = -load, taken = quota.taken })
  end

  -- Whether a request stays queued: of rare permits, only the client in front reserves, and no further ahead than its
  -- horizon, or than the kept part of a request takes; clients that take turns reserve no more than their share, and
  -- nothing beyond the notice period, or nothing at all.
  local function staysQueued(cost, wait, ahead, maxWait)
    if left or barred then return true end
    -- A request that may wait is granted permits that are free now. One that may not must not overtake waiting clients.
    if wait == 0 then return maxWait == 0 and not isFirst end
    if turns then return reservesNothing(ledger) or ahead > NOTICE_PERIOD or (held > 0 and held >= share) end
    return not isFirst or ahead > math.max(horizon, keptLoad(ledger, loadOf(ledger, cost)))
  end

  -- How many requests of a cost may still be granted at once.
  local function quotaFor(cost, hasQuota)
    return hasQuota and quotaOf(ledger, now, cost, quota) or math.huge
  end

  -- Keeps the remaining requests of a run for the client's turn, or refuses them if that is too late.
  local function queue(run, remaining, t)
    -- Clients that take turns share what is free, so those in front do not delay them.
    local turn = turns and t or t + delay
    local wait = math.min(math.ceil((isFirst and t or turn) * 1000 - instant.us), MOST_WAIT)
    if run.maxWait == 0 or wait > run.maxWait then return answer(remaining, -2 - math.max(1000, wait)) end
    if not left then
      local till = now + CONTENDER_PERIOD
      local load = loadOf(ledger, run.cost)
      local taken = keepClaim(ledger, quota.taken, load)
      local due = turns and now or turn
      takeTicket(ledger, { client = client, due = due, till = till, stride = load, taken = taken })
      if load >= share then noteLarge(ledger, load, till, now) end
      ledger.pacedUntil = math.max(ledger.pacedUntil, till)
      if turns then
        retryAt = nextTurn(ledger, now, t, contenders, quota.free, load)
      else
        -- Refunded permits come soon after their grants, if at all.
        local since = math.abs(now - newestOf(ledger, run.cost, false))
        callAgain(math.min(t - now, math.max(keptLoad(ledger, load), since)))
      end
      left = true
    end
    answer(remaining, LEFT)
  end

  local function serve(run)
    local cost, remaining, again = run.cost, run.count, 0
    if isTooMuch(ledger, cost) then return answer(remaining, NEVER) end
    local stride = 0
    if paced and not turns then stride = strideOf(ledger, cost) end
    -- The pace divides the permits of windows. A request that may not wait for its client's next call is granted at
    -- once.
    local callsAgain = turns and MOST_TURN or NEXT_CALL
    local hasQuota = sharesFree and stride == 0 and run.maxWait >= callsAgain * 1000
    while remaining > 0 do
      local t, wait = offer(ledger, instant, cost, stride, after)
      -- A refunded reservation before `t` can be taken over without moving any other reservation.
      local hole = wait > 0 and holeFor(ledger, math.max(now + 1, ledger.pausedUntil, after), t, cost)
      -- A request that may not wait must not overtake queued ones, and a client's request must not overtake the
      -- client's own reservations.
      local mayOvertake = wait > 0 and run.maxWait > 0 and not left and after <= now and not barred and gaps < MOST_GAPS
      if mayOvertake and quotaFor(cost, hasQuota) > 0 and takeGap(ledger, instant, cost, hole) then
        answer(1, 0)
        remaining, gaps = remaining - 1, gaps + 1
        if hasQuota then spend(ledger, cost, 1, quota) end
        if ordered then goBehind(cost) end
      elseif ordered and staysQueued(cost, wait, t - now, run.maxWait) then
        return queue(run, remaining, t)
      elseif wait == 0 and quotaFor(cost, hasQuota) <= 0 then
        if turns then return queue(run, remaining, t) end
        -- A bucket grants the next requests after the calls of this millisecond.
        after = instant.at + 1
      else
        if hole then
          t = hole.moment
          wait = t * 1000 - instant.us
        end
        -- A request that may not wait never overtakes queued requests, even if its permits are free.
        if wait > run.maxWait or (left and run.maxWait == 0) then return answer(remaining, -2 - math.max(1000, wait)) end
        left = left or (wait > 0 and (held > 0 and held >= share or horizon > LONGEST_HORIZON and #reply >= 7 + 2 * MOST_SEGMENTS))
        if left then return answer(remaining, LEFT) end
        local granted = hole and math.min(roomIn(hole, cost), remaining) or wait > 0 and fitAll(ledger, now, t, cost, remaining)
          or fitAll(ledger, now, now, cost, math.min(quotaFor(cost, hasQuota), remaining))
        if not (granted >= 1) then
          -- The list of a log has turned out to be another one: its permits count for longer than when they were offered. A
          -- damaged key must not keep this loop, and so the server, busy for ever.
          again = again + 1
          if again > #logs then refuseKey(KEYS[1], LEDGER_SAYS, 'a limit that grants nothing when it is free') end
        else
          local load = 0
          if wait > 0 then
            load = loadOf(ledger, cost)
            granted = math.min(granted, math.max(1, math.ceil((share - held) / load)))
          end
          if hole then
            fillHole(ledger, hole, cost, granted, now)
          else
            granted = grantAll(ledger, instant, t, cost, stride, granted)
          end
          if paced and stride == 0 then noteGranted(ledger, cost, granted) end
          if hasQuota and wait == 0 then spend(ledger, cost, granted, quota) end
          if turns and wait == 0 then noteTaken(ledger, cost, granted) end
          if ordered then goBehind(cost) end
          if wait > 0 then
            held = held + load * granted
            if contenders > 1 and load >= share then noteLarge(ledger, load, t + CONTENDER_PERIOD, now) end
            after = math.max(after, t)
          end
          answer(granted, wait)
          remaining = remaining - granted
        end
      end
    end
  end

  -- Lets requests that have reservations take over refunded ones with earlier moments, or the permits that are free before
  -- these. All other permits before their moments are reserved. Clients that wait in order, or take turns, reserve nothing far ahead.
  local function serveEarlier(run)
    local cost, remaining, load = run.cost, run.count, loadOf(ledger, run.cost)
    while remaining > 0 and not ordered and held < math.max(share, load) do
      local hole = holeFor(ledger, math.max(now + 1, ledger.pausedUntil), math.huge, cost)
      if not hole then break end
      local granted, wait = 1, hole.moment * 1000 - instant.us
      if gaps < MOST_GAPS and takeGap(ledger, instant, cost, hole) then
        gaps, wait = gaps + 1, 0
      elseif wait > run.maxWait then
        break
      else
        granted = math.min(roomIn(hole, cost), remaining, math.max(1, math.ceil((share - held) / load)))
        fillHole(ledger, hole, cost, granted, now)
        if paced and strideOf(ledger, cost) == 0 then noteGranted(ledger, cost, granted) end
        held, after = held + load * granted, math.max(after, hole.moment)
      end
      answer(granted, wait)
      remaining = remaining - granted
    end
    if remaining > 0 then answer(remaining, LEFT) end
  end

  for _, run in ipairs(runs) do
    if earlier then serveEarlier(run) else serve(run) end
  end
end

-- A client that waits calls again within the notice period. One that does not has ended, or needs its reservations no more.
local ahead = math.max(last, after)
local till = math.min(math.max(now, ahead), now + NOTICE_PERIOD) + CONTENDER_PERIOD
if contenders > 1 and ahead > now then ledger.pacedUntil = math.max(ledger.pacedUntil, till) end
-- A client that leaves no other behind, or a single one, ends the pace.
if #runs == 0 and not waits and contenders == 1 then ledger.pacedUntil = 0 end
-- After its part of the free permits, the client leaves the rest to the others until its next turn, unless there are many.
if turns and quota.left and not left then
  if quota.free * 2 <= contenders or not isShort(ledger) then
    retryAt = nextTurn(ledger, now, now, contenders, quota.free, loadOf(ledger, runs[1].cost))
  end
  takeTicket(ledger, { client = client, due = now, till = till, stride = 0, taken = quota.taken })
  stays = true
end
if retryAt > 0 then
  local wait = math.floor(math.min(retryAt * 1000 - instant.us, MOST_WAIT))
  reply[6] = turns and -2 - wait or wait
end
stays = stays or held > 0 or left or retryAt > 0
noteContender(ledger, KEYS[2], client, stays and till or 0, now)
if stays and contenders > 1 then noteHorizon(ledger, math.min(horizon, LONGEST_HORIZON), now + CONTENDER_PERIOD, now) end
saveLedger(KEYS[1], ledger, instant)

if plain and retryAt == 0 and ledger.epoch == known then return serverUs end
return reply
