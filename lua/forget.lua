-- Forgets what was granted and booked, and lifts a pause. The twin of src/stores/memory/control.ts.
--
-- KEYS[1]   the ledger
-- KEYS[2]   the contenders
-- KEYS[3]   the control
-- KEYS[4…]  the log of each limit
--
-- ARGV[1]   1 where the stored rate is forgotten, too
-- then, in tests only, the server's time in microseconds
--
-- Reply: 1.

-- @include "ledger/state"

local now = math.floor(serverTime(ARGV[2]) / 1000)
local control = openControl(KEYS[3])
if control.pausedUntil > now then control.liftedUntil = now + TOLD end
control.pausedSince, control.pausedUntil = 0, 0
if ARGV[1] == '1' then control.spec, control.forgotten, control.changed = '', 0, 0 end
saveControl(KEYS[3], control, now)
-- Last, and all at once: where Redis refuses it, what was granted counts.
local granted = { KEYS[1], KEYS[2] }
for i = 4, #KEYS do granted[i - 1] = KEYS[i] end
writeLater('UNLINK', unpack(granted))
makeWrites()
return 1
