-- Returns the permits that are free now, and grants none.
--
-- KEYS[1]   the ledger
-- KEYS[2]   the contenders (unused: every script takes the same keys)
-- KEYS[3]   the control
-- KEYS[4…]  the log of each limit
--
-- ARGV[1]   the limits that the client expects to be in force, as in reserve.lua
-- ARGV[2]   1 if these were stored, 0 if they are the client's own
-- last, in tests only: the server's time in microseconds
--
-- Reply: the limits in force as text, if they differ from ARGV[1]. Otherwise a list: the free permits of each limit.

-- @include "ledger/state"

local logs = {}
for i = 4, #KEYS do logs[i - 3] = KEYS[i] end
local ledger, instant = openLedger(KEYS, ARGV[1], ARGV[2], logs, serverTime(ARGV[3]))
if not ledger then return instant end
local reply = availableNow(ledger, instant)
saveLedger(KEYS[1], ledger, instant)
return reply
