-- Says what could be granted at once, and charges nothing.
--
-- KEYS[1]   the ledger
-- KEYS[2]   the contenders (unused: every script takes the same keys)
-- KEYS[3…]  the log of each limit
--
-- ARGV[1]   the limits, as in reserve.lua
-- then, in tests only, the server's time in microseconds
--
-- Reply: a list of permits, for each limit.

-- @include "ledger/state"

local logs = {}
for i = 3, #KEYS do logs[i - 2] = KEYS[i] end
local ledger, instant = openLedger(KEYS[1], ARGV[1], logs, serverTime(ARGV[2]))
local reply = {}
for i, state in ipairs(ledger.limits) do reply[i] = algebraOf(state.kind).available(state, instant.now, instant.at) end
saveLedger(KEYS[1], ledger, instant)
return reply
