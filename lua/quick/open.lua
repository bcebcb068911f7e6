-- @include "heads/common"

-- The fast path: grants the request here if there are no waiting requests, reservations or pause, and its
-- permits are free now. It uses locals only, as each function or table that a script creates costs as much as
-- a command. Any other call continues with the slow path, which is included after this one; nothing has been
-- written then. The fast path replies and writes what the slow path would, except that it leaves expired
-- entries in the log. Its formats are in lua/heads.
--
-- It serves a single unnamed limit, whose numbers are ARGV[3…5].

-- The first byte of ARGV[2] if the limits are the client's own.
local OWN = 48
local spec, permits, interval, extra = ARGV[1], ARGV[3] + 0, ARGV[4] + 0, ARGV[5] + 0
local us, now, at, kind, data, forgotten, fresh, taken, epoch, seen, expires, calm, slack, renewed, full, left
if asked > 0 and permits > 0 then
  local control = redis.pcall('GETRANGE', KEYS[3], '0', LAST_BYTE)
  data, forgotten = redis.pcall('GETRANGE', KEYS[1], '0', LAST_BYTE), 0
  if not ownUs then
    local time = redis.call('TIME')
    us = time[1] * 1000000 + time[2]
  else
    us = ownUs + 0
  end
  local rest = us % 1000
  now = (us - rest) / 1000
  at = rest == 0 and now or now + 1
  if control == '' then
    if string.byte(ARGV[2]) == OWN then kind = string.byte(spec, 7) end
  elseif string.byte(ARGV[2]) ~= OWN and not control.err and string.sub(control, 53) == spec then
    local version, since, till, lifted, changed, length
    version, since, till, lifted, forgotten, changed, length = struct.unpack('<ddddddI', control)
    local holds = version == 2 and length == #spec and since >= 0 and till >= 0 and lifted >= 0 and forgotten >= 0
    if holds and since <= now and till <= now and lifted <= now and forgotten < 2 ^ 60 then kind = string.byte(spec, 7) end
  end
  -- A request is not granted before the client's own reservations.
  if lastMoment > now or data.err then kind = nil end
  fresh = data == ''
  if fresh then expires, calm, slack = 0, 0, -1 end
end
