-- What holds for all clients of a limiter: the rate that is stored, if one is, and a pause. The twin of
-- src/stores/memory/control.ts.
--
-- Its times are the server's own: clients that each have a ledger of their own share it.

local CONTROL_VERSION = 2
local CONTROL = '<ddddddIc0'
-- Milliseconds for which it is told that a pause was lifted: who is booked behind it asks more often, slow calls included.
local TOLD = 5000

local function openControl(key)
  local data = redis.call('GET', key)
  if not data then return { pausedSince = 0, pausedUntil = 0, liftedUntil = 0, forgotten = 0, changed = 0, spec = '' } end
  local version, since, till, lifted, forgotten, changed, spec = struct.unpack(CONTROL, data)
  if version ~= CONTROL_VERSION then error('the key holds no control of version ' .. CONTROL_VERSION) end
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
    redis.call('SET', key, data)
  elseif ends > now then
    redis.call('SET', key, data, 'PX', string.format('%.0f', ends - now))
  else
    redis.call('DEL', key)
  end
end

-- After a step of the clock back, a pause lasts no longer than it would have from its beginning.
local function followPause(key, control, now)
  if now >= control.pausedSince or control.pausedUntil == 0 then return end
  control.pausedUntil = now + control.pausedUntil - control.pausedSince
  control.pausedSince = now
  -- A ledger that has not seen the step would take this end for that of a pause that was lifted.
  control.liftedUntil = 0
  saveControl(key, control, now)
end
