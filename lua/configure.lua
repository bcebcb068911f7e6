-- Stores a rate for all clients of a limiter, or returns the stored one. The twin of src/stores/memory/control.ts.
--
-- KEYS[1]   the ledger
-- KEYS[2]   the contenders (unused: every script takes the same keys)
-- KEYS[3]   the control
-- KEYS[4…]  the log of each limit
--
-- ARGV[1]   the limits to store, in the form of reserve.lua; empty to read the stored ones
-- ARGV[2]   1 to store them only if none are stored
-- ARGV[3]   1 to keep counting the permits that were granted before
-- last, in tests only: the server's time in microseconds
--
-- Reply: a list of 1 if the limits were stored, or 0. To a read: the stored limits as text, or an empty JSON list.

-- @include "ledger/state"

local logs = {}
for i = 4, #KEYS do logs[i - 3] = KEYS[i] end
local spec, ifNone, keepState = ARGV[1], ARGV[2] == '1', ARGV[3] == '1'
local serverUs = serverTime(ARGV[4])
local control = openControl(KEYS[3])
if spec == '' then return control.spec == '' and '[]' or control.spec end
if ifNone and control.spec ~= '' then return { 0 } end

control.spec, control.changed = spec, math.floor(serverUs / 1000)
if not keepState then
  local before = readLedger(KEYS[1], spec, logs)
  local epoch = before and before.epoch or 0
  control.forgotten = math.max(control.forgotten + 1, epoch + 1, serverUs)
end
saveControl(KEYS[3], control, math.floor(serverUs / 1000))
-- Convert the ledger now, so that a lower rate takes effect at once.
local ledger, instant = openLedger(KEYS, spec, STORED, logs, serverUs, control)
saveLedger(KEYS[1], ledger, instant)
return { 1 }
