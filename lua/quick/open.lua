-- @include "heads/common"

-- The quick way: where nobody waits, nothing is booked ahead, no pause holds, and what is asked for is free now, it is taken
-- here: with locals alone, as each function and table that is made costs as much as a command. All else goes the whole way,
-- which begins behind it; nothing has been written then. What it answers and leaves is what the whole way would, but for
-- entries of a log that have expired and stay until there is need of room. It reads and writes what lua/heads says.
--
-- The numbers of the limit are those of the only one of the limiter, and it has no name: else they are 0.

local us, now, at, kind, data, forgotten, fresh, taken, epoch, seen, expires, calm, slack, own, renewed, full, left
if asked > 0 and permits > 0 then
  local control = redis.pcall('GET', KEYS[3])
  data, forgotten = redis.pcall('GET', KEYS[1]), 0
  if not ownUs then
    local time = redis.call('TIME')
    us = time[1] * 1000000 + time[2]
  else
    us = ownUs + 0
  end
  now = (us - us % 1000) / 1000
  at = us % 1000 == 0 and now or now + 1
  if not control then
    if stored == '0' then kind = string.byte(spec, 7) end
  elseif stored == '1' and not control.err and string.sub(control, 53) == spec then
    local version, since, till, lifted, changed, length
    version, since, till, lifted, forgotten, changed, length = struct.unpack('<ddddddI', control)
    local holds = version == 2 and length == #spec and since >= 0 and till >= 0 and lifted >= 0 and forgotten >= 0
    if holds and since <= now and till <= now and lifted <= now and forgotten < 2 ^ 60 then kind = string.byte(spec, 7) end
  end
  -- Nothing that this client asks for is granted before what it holds.
  if lastMoment > now or data and data.err then kind = nil end
  fresh = not data
  if fresh then
    expires, calm, slack = 0, 0, -1
  elseif kind and #data >= HEAD_SIZE then
    local letter, version, p, i, x
    letter, version, epoch, seen, expires, calm, slack, p, i, x, own = struct.unpack(HEAD, data)
    taken = letter == kind and version == VERSION and p == permits and i == interval and x == extra and now >= calm
      and seen >= 0 and seen <= now and epoch >= forgotten and expires >= 0 and epoch + expires < 2 ^ 60
      and (expires <= now or known == 0 or known == epoch)
  end
end
