-- Pauses a limiter: no client is granted a permit until the pause ends. The twin of src/stores/memory/control.ts.
--
-- KEYS[1]   the ledger (unused, like all keys but the control: every script takes the same keys)
-- KEYS[2]   the contenders
-- KEYS[3]   the control
--
-- ARGV[1]   the length of the pause in microseconds
-- last, in tests only: the server's time in microseconds
--
-- Reply: a list of the microseconds until the pause ends. Of two pauses, the one that ends later counts.

-- @include "ledger/state"

local serverUs = serverTime(ARGV[2])
local now = math.floor(serverUs / 1000)
local control = openControl(KEYS[3])
local changed = followPause(control, now)
local length = tonumber(ARGV[1])
local till = math.ceil((serverUs + length) / 1000)
if length > 0 and till > control.pausedUntil then
  control.pausedSince, control.pausedUntil, changed = now, till, true
end
if changed then saveControl(KEYS[3], control, now) end
makeWrites()
return { math.max(0, control.pausedUntil * 1000 - serverUs) }
