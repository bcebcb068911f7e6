-- Forgets all grants and reservations of a limiter, and lifts a pause. The twin of src/stores/memory/control.ts.
--
-- KEYS[1]   the ledger
-- KEYS[2]   the contenders
-- KEYS[3]   the control
-- KEYS[4…]  the log of each limit
--
-- ARGV[1]   1 to forget the stored rate too
-- last, in tests only: the server's time in microseconds
--
-- Reply: 1.

-- @include "ledger/state"

local now = math.floor(serverTime(ARGV[2]) / 1000)
local whole, control = pcall(openControl, KEYS[3])
if not whole then
  -- delete() removes whatever the key holds, unless Redis refuses to read it.
  if ARGV[1] ~= '1' or not tostring(control):find('holds no', 1, true) then error(control, 0) end
  control = newControl()
end
-- A client may be away for as long as it has reservations behind the pause, and its requests would wait for them.
control.liftedUntil = math.max(control.liftedUntil, control.pausedUntil)
control.pausedSince, control.pausedUntil = 0, 0
if ARGV[1] == '1' then control.spec, control.forgotten, control.changed = '', 0, 0 end
saveControl(KEYS[3], control, now)
-- The last write, as one command: if Redis refuses it, all grants still count.
local granted = { KEYS[1], KEYS[2] }
for i = 4, #KEYS do granted[i - 1] = KEYS[i] end
writeLater('UNLINK', unpack(granted))
makeWrites()
return 1
