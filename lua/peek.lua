-- Says what could be granted at once, and charges nothing.
--
-- KEYS[1]   the ledger
-- KEYS[2]   the contenders (unused: every script takes the same keys)
-- KEYS[3]   the control
-- KEYS[4…]  the log of each limit
--
-- ARGV[1]   the limits, and
-- ARGV[2]   whether they were stored, as in reserve.lua
-- then, in tests only, the server's time in microseconds
--
-- Reply: the limits in force, as text, where they are others; else a list of permits, for each limit.

-- @include "ledger/state"

local logs = {}
for i = 4, #KEYS do logs[i - 3] = KEYS[i] end
local ledger, instant = openLedger(KEYS, ARGV[1], ARGV[2], logs, serverTime(ARGV[3]))
if not ledger then return instant end
local reply = availableNow(ledger, instant)
saveLedger(KEYS[1], ledger, instant)
return reply
