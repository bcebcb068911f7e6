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
-- @include "reserve/earlier"

for _, run in ipairs(runs) do
  serve(run)
end

-- A client that waits calls again within the notice period. One that does not has ended, or needs its reservations no more.
local till = math.min(math.max(now, last, after), now + NOTICE_PERIOD) + CONTENDER_PERIOD
if contenders > 1 and math.max(last, after) > now then ledger.pacedUntil = math.max(ledger.pacedUntil, till) end
-- A client that leaves no other behind, or a single one, ends the pace. Then no other client takes over a hole.
if #runs == 0 and not waits and contenders == 1 then
  ledger.pacedUntil = 0
  closeHoles(ledger, now, math.huge)
end
-- After its part of the free permits, the client leaves the rest to the others until its next turn, unless there are many: in a
-- long interval, few of which come back, these are those of a new window, of which a single client would take several parts.
if turns and part and not left then
  local load = loadOf(ledger, runs[1].cost)
  local areMany = free > contenders * 2 and (isShort(ledger) or areReturned(ledger))
  if not areMany then retryAt = nextTurn(now, load) end
  -- It does not wait yet, but is likely to: then it keeps its claim to what others take meanwhile.
  takeTicket(ledger, { client = client, due = math.max(now, retryAt), till = till, stride = -load, taken = taken })
  stays = true
end
if retryAt > 0 then
  local wait = math.floor(math.min(retryAt * 1000 - instant.us, MOST_WAIT))
  reply[6] = turns and -2 - wait or wait
end
stays = stays or held > 0 or left or retryAt > 0
noteContender(ledger, KEYS[2], client, stays and till or 0, now)
-- The longest horizon of the contenders counts until each has called again.
local farthest = math.min(horizon, LONGEST_HORIZON)
if stays and contenders > 1 and (farthest >= ledger.farthest or ledger.farthestUntil <= now) then
  ledger.farthest, ledger.farthestUntil = farthest, now + CONTENDER_PERIOD
end
saveLedger(KEYS[1], ledger, instant)

if plain and retryAt == 0 and ledger.epoch == known then return serverUs end
return reply
