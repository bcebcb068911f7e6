-- @include "heads/common"

-- The fast path: grants the request here if there are no waiting requests, reservations or pause, and its
-- permits are free now, or refuses it if it does not wait until they are. It uses locals only, as each function or table that a
-- script creates costs as much as a command. Any other call continues with the slow path, which is included after this one;
-- nothing has been written then. The fast path replies and writes what the slow path would, except that it leaves expired
-- entries in the log. Its formats are in lua/heads.
--
-- It serves a single unnamed limit, whose text is in ARGV[1]. Text in the form of JSON is that of other limits.
--
-- A ledger is of the limits in force and of no pause, unless its head says so: each change of the control changes the head of
-- the ledger, too. So the control is read for a new ledger only, or if the ledger is one of several that share the control.

-- The first byte of ARGV[1] if it is JSON, and of ARGV[2] if the limits are the client's own.
local JSON, OWN = 91, 48
local text = ARGV[1]
local kind = text:byte()
local us, now, at, data, forgotten, fresh, taken, permits, interval, extra, sum
local epoch, seen, expires, calm, kept, renewed, full, left
-- An entry or a step to be added to the ledger, and the first bytes behind its place, and behind what it replaces.
local added, place, after
-- The moment at which the permits of a request are free that is not granted now.
local refused
if asked > 0 and kind ~= JSON then
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
  fresh = data == ''
  if fresh then
    expires, calm, kept = 0, 0, 0
    permits, interval, extra = text:match('^.(%d+),(%d+),(%d+)]$')
    if extra then
      permits, interval, extra = permits + 0, interval + 0, extra + 0
      -- @inline "heads/checksum"
      sum = checksum
    else
      kind = nil
    end
  end
  -- The key of one client's ledger is longer than that of the control.
  if fresh or #KEYS[1] > #(KEYS[3] or KEYS[2]) then
    local control = redis.pcall('GETRANGE', KEYS[3] or KEYS[2], '0', LAST_BYTE)
    local holds = false
    if control == '' then
      holds = ARGV[2]:byte() == OWN
    elseif not control.err
      and control:sub(53) == '[["","' .. text:sub(1, 1) .. '",' .. text:sub(2) .. ']' then
      local version, since, till, lifted, changed, length
      version, since, till, lifted, forgotten, changed, length = struct.unpack('<ddddddI', control)
      holds = version == 2 and length == #control - 52 and since >= 0 and till >= 0 and lifted >= 0 and forgotten >= 0
        and since <= now and till <= now and math.max(lifted, forgotten) < EPOCH_BOUND
    end
    if not holds then kind = nil end
  end
  -- A request is not granted before the client's own reservations.
  if lastMoment > now then kind = nil end
else
  kind = nil
end
