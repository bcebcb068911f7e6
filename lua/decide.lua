-- Grants a request if its permits are free now, and returns what is left. The twin of src/stores/memory/decide.ts.
--
-- KEYS[1]   the ledger
-- KEYS[2]   the contenders
-- KEYS[3]   the control
-- KEYS[4…]  the log of each limit
-- Most calls for a single unnamed limit have the ledger and the control only.
--
-- ARGV[1]   the limits that the client expects to be in force, as in reserve.lua
-- ARGV[2]   1 if these were stored, 0 if they are the client's own; then the client
-- ARGV[3…]  the cost in permits for each limit; only zeros to learn what is left. Left out in most calls: one permit of the only
--           limit
-- then, if the client has a reservation: the last moment it has reserved, in milliseconds, and the epoch of that
--           reservation; nothing is granted before that moment
-- last, in tests only: the server's time in microseconds
--
-- Reply: the limits in force as text, if they differ from ARGV[1]. 0 if all keys are needed; nothing was changed then. If the
-- fast path grants the request, and both numbers are small enough: the free permits * 2^33 + the time until all permits are
-- free, in microseconds. Otherwise a list: 1 if granted, else 0; the wait until the request could be granted, or -1 for never;
-- the time until all permits are free; both in microseconds; then the permits of each limit that are free now; then, if one of
-- several limits refuses, the index from 0 of the one with the longest wait.

-- @include "quick/decide"
-- @include "ledger/all-keys"
-- @include "ledger/state"
-- @include "ledger/contenders"
-- @include "ledger/grant"
-- @include "ledger/ahead"
-- @include "ledger/tickets"
-- @include "ledger/order"

local logs, cost = {}, {}
for i = 4, #KEYS do
  logs[i - 3] = KEYS[i]
  cost[i - 3] = askedPermits(ARGV[i - 1] or '1')
end
local position, lastMoment, lastEpoch = 3 + #logs, 0, 0
if #ARGV > position then
  lastMoment, lastEpoch, position = tonumber(ARGV[position]), tonumber(ARGV[position + 1]), position + 2
end
local serverUs = serverTime(ARGV[position])
local ledger, instant = openLedger(KEYS, limitsIn(ARGV[1]), ARGV[2], logs, serverUs)
if not ledger then return instant end
local now = instant.now
local others = countOthers(ledger, KEYS[2], ARGV[2]:sub(2), now)
local paced = others > 1 or now < ledger.pacedUntil
local after = lastOf(ledger, now, lastMoment, lastEpoch, 0)
boundFrontiers(ledger, now)
local strides, stride = nil, 0
if paced then strides, stride = stridesOf(ledger, cost) end

local t, wait, limiting = offer(ledger, instant, cost, stride, after, others == 0 and after == 0)
if wait > 0 and #cost > 1 then
  local ahead, soonest = offerAhead(ledger, instant, cost, stride, after, t, 0)
  if ahead then t, wait = ahead, soonest end
end
-- A request that does not wait must not overtake clients that wait.
local turns, inOrder = false, false
if paced then turns, inOrder = orderOf(ledger, others, { { cost = cost } }) end
if (turns or inOrder) and loadOf(ledger, cost) > 0 then
  local delay, _, isFirst = turnOf(ledger, ARGV[2]:sub(2), now)
  if not isFirst then wait = math.max(wait, math.ceil(delay * 1000)) end
end
local tooMuch = isTooMuch(ledger, cost)
local granted = wait == 0 and not tooMuch
if granted then grantAll(ledger, instant, t, cost, strides, stride, 1, true) end

local full = math.max(fullAt(ledger, now), ledger.pausedUntil) * 1000 - instant.us
local reply = { granted and 1 or 0, tooMuch and -1 or wait, math.max(0, math.min(full, MOST_WAIT)) }
for i, state in ipairs(ledger.limits) do
  local permits = ledger.pausedUntil > now and 0 or algebraOf(state.kind).available(state, now, instant.at)
  -- As text if it is so large that a client's parser may round it.
  reply[3 + i] = permits < 2 ^ 52 and permits or string.format('%.0f', permits)
end
if not granted and #cost > 1 then reply[#reply + 1] = limiting end
saveLedger(KEYS[1], ledger, instant)
return reply
