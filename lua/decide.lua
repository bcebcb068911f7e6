-- Takes permits if they are there at once, and says what is left. The twin of src/stores/memory/decide.ts.
--
-- KEYS[1]   the ledger
-- KEYS[2]   the contenders
-- KEYS[3]   the control
-- KEYS[4…]  the log of each limit
--
-- ARGV[1]   the client
-- ARGV[2]   the limits, and
-- ARGV[3]   whether they were stored, and
-- ARGV[4…6] the numbers of the only one, as in reserve.lua
-- ARGV[7…]  the cost in permits for each limit
-- then, where the client has a line, the last moment that it holds booked, in milliseconds, and its epoch: nothing is granted before that
-- then, in tests only, the server's time in microseconds
--
-- Reply: the limits in force, as text, where they are others. Else a list: 1 if granted, else 0; the wait until it could be granted, or -1 for never, and the time until all has
-- come back, in microseconds; then the permits left at once, of each limit; and then, of several limits, the index of the one that
-- refuses for longest, from 0 on, where any of them refuses.

-- @include "quick/decide"
-- @include "ledger/state"
-- @include "ledger/contenders"
-- @include "ledger/offer"

local logs, cost = {}, {}
for i = 4, #KEYS do
  logs[i - 3] = KEYS[i]
  cost[i - 3] = tonumber(ARGV[i + 3])
end
local position, lastMoment, lastEpoch = 7 + #logs, 0, 0
if #ARGV > position then
  lastMoment, lastEpoch, position = tonumber(ARGV[position]), tonumber(ARGV[position + 1]), position + 2
end
local serverUs = serverTime(ARGV[position])
local ledger, instant = openLedger(KEYS, ARGV[2], ARGV[3], logs, serverUs)
if not ledger then return instant end
local now = instant.now
local paced = countContenders(ledger, KEYS[2], ARGV[1], false, now) > 1 or now < ledger.pacedUntil
local stride = 0
if paced then stride = strideOf(ledger, cost) end

local t, wait = offer(ledger, instant, cost, stride, lastOf(ledger, lastMoment, lastEpoch))
local tooMuch = isTooMuch(ledger, cost)
local granted = wait == 0 and not tooMuch
local refusing = not granted and refusingOf(ledger, instant, cost)
if granted then
  commitAll(ledger, now, t, cost, 1)
  if stride > 0 then
    ledger.frontier = math.max(ledger.frontier, t) + stride
    noteGranted(ledger, cost, 1)
  end
end

local reply = { granted and 1 or 0, tooMuch and -1 or wait, math.max(0, math.max(fullAt(ledger, now), ledger.pausedUntil) * 1000 - instant.us) }
for i, permits in ipairs(availableNow(ledger, instant)) do reply[3 + i] = permits end
if refusing then reply[#reply + 1] = refusing end
saveLedger(KEYS[1], ledger, instant)
return reply
