-- What holds for all clients of a limiter: the rate that is stored, if one is, and a pause. The twin of
-- src/stores/memory/control.ts.
--
-- Its times are the server's own: clients that each have a ledger of their own share it.

local CONTROL_VERSION = 2
local CONTROL = '<ddddddIc0'
local CONTROL_SAYS = 'control of version ' .. CONTROL_VERSION
-- Milliseconds for which it is told that a pause was lifted: who is booked behind it asks more often, slow calls included.
local TOLD = 5000

local function openControl(key)
  local data = readKey(CONTROL_SAYS, 'GET', key)
  if not data then return { pausedSince = 0, pausedUntil = 0, liftedUntil = 0, forgotten = 0, changed = 0, spec = '' } end
  local whole, version, since, till, lifted, forgotten, changed, spec, after = pcall(struct.unpack, CONTROL, data)
  local holds = whole and version == CONTROL_VERSION and after == #data + 1
    and inRange(math.min(since, till, lifted, forgotten, changed), since + till + lifted + forgotten + changed)
    -- The rest of the text is read by the clients alone.
    and (spec == '' or spec:sub(1, 2) == '[[')
  if not holds then refuseKey(key, CONTROL_SAYS) end
  return {
    pausedSince = since, pausedUntil = till, liftedUntil = lifted, forgotten = forgotten, changed = changed, spec = spec,
  }
end

-- A stored rate stays until it is deleted; a pause by itself goes when it ends, or soon after it was lifted.
local function saveControl(key, control, now)
  local data = struct.pack(CONTROL, CONTROL_VERSION, control.pausedSince, control.pausedUntil, control.liftedUntil,
    control.forgotten, control.changed, #control.spec, control.spec)
  local ends = math.max(control.pausedUntil, control.liftedUntil)
  if control.spec ~= '' then
    writeLater('SET', key, data)
  elseif ends > now then
    writeLater('SET', key, data, 'PX', string.format('%.0f', ends - now))
  else
    writeLater('DEL', key)
  end
end

-- After a step of the clock back, a pause lasts no longer than it would have from its beginning. Whether that changes it.
local function followPause(control, now)
  if now >= control.pausedSince or control.pausedUntil == 0 then return false end
  control.pausedUntil = now + control.pausedUntil - control.pausedSince
  control.pausedSince = now
  -- A ledger that has not seen the step would take this end for that of a pause that was lifted.
  control.liftedUntil = 0
  return true
end
