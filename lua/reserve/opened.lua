-- @include "ledger/state"
-- @include "ledger/contenders"
-- @include "ledger/grant"
-- @include "ledger/ahead"
-- @include "ledger/move-up"
-- @include "ledger/share"
-- @include "ledger/tickets"
-- @include "ledger/order"
-- @include "reserve/asked"

-- The ledger as the call finds it, the client among its contenders, and the reply.

-- A client counts as a contender, and windows stay paced, for this many milliseconds after its last reservation is due, or
-- after the call that it has to make before.
local CONTENDER_PERIOD = 2000
-- No client reserves further ahead than this many milliseconds of load.
local LONGEST_HORIZON = 1000

local ledger, instant = openLedger(KEYS, limitsIn(ARGV[1]), ARGV[2], logs, serverUs)
if not ledger then return instant end
local now = instant.now
moveUp(ledger, instant, serverUs)
local others = countOthers(ledger, KEYS[2], client, now)
local contenders = math.max(1, waits and others + 1 or others)
local paced = contenders > 1 or now < ledger.pacedUntil
local share = shareOf(ledger, horizon, contenders, now)
-- Whether clients wait in order, and whether they take turns. If so: the turn of this one, see `turnOf`. A client that does
-- not wait is no contender, but it must not overtake clients that wait without reservations.
local turns, inOrder, delay, expected, isFirst, barred = false, false, 0, 0, true, false
if contenders > 1 or (paced and not waits) then turns, inOrder = orderOf(ledger, contenders, runs) end
local ordered = inOrder or turns
if ordered then delay, expected, isFirst, barred = turnOf(ledger, client, now, inOrder) end
boundFrontiers(ledger, now)

local reply
do
  -- Until when the reservations of the known epoch are valid.
  local valid = known > 0 and validUntil(ledger, known) or math.huge
  local pause = ledger.pausedUntil * 1000 - instant.us
  reply = { serverUs, ledger.epoch, contenders, pause > 0 and pause or -1,
    valid == math.huge and -1 or math.max(0, valid * 1000 - instant.us), -1,
    share > horizon / contenders and math.floor(share * 1000) or -1 }
end
local left, gaps, plain = false, 0, contenders == 1 and reply[4] < 0
-- Whether a call is granted only its client's part of the free permits: without refunds, the order of calls is fair.
local sharesFree = contenders > 1 and (turns or areReturned(ledger))
-- When the client is to call again: milliseconds, or 0; and how many requests could be granted at its first one.
local retryAt, free = 0, 0
-- What the client has taken, and the same of the one that has taken least, of those that wait, or are likely to wait
-- again. A client that calls for the first time has taken as much as that one; and one that did neither since its last call has
-- no claim to what others took meanwhile.
local taken, least = 0, math.huge
for _, ticket in ipairs(ledger.tickets) do
  if ticket.client == client then taken = ticket.taken end
  if ticket.stride ~= 0 then least = math.min(least, ticket.taken) end
end
if least == math.huge then least = taken end
taken = math.max(taken, least)
-- Requests of one client keep their order.
local last, stays = lastOf(ledger, now, lastMoment, lastEpoch, known), held > 0
local after = last
if earlier then held, after = 0, 0 end
local function answer(count, delay)
  reply[#reply + 1] = count
  reply[#reply + 1] = delay
  plain = plain and delay == 0
end
