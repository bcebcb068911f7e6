-- The state that applies to all clients of a limiter: the stored rate, if there is one, and a pause. The twin
-- of src/stores/memory/control.ts.
--
-- Its times are the server's, without a ledger's shift: with the scope `client`, several ledgers share one
-- control.

local CONTROL_VERSION = 2
local CONTROL = '<ddddddIc0'
local CONTROL_SAYS = 'control of version ' .. CONTROL_VERSION

local function newControl()
  return { pausedSince = 0, pausedUntil = 0, liftedUntil = 0, forgotten = 0, changed = 0, spec = '' }
end

local function openControl(key)
  local data = readString(CONTROL_SAYS, key)
  if not data then return newControl() end
  local whole, version, since, till, lifted, forgotten, changed, spec, after = pcall(struct.unpack, CONTROL, data)
  local holds = whole and version == CONTROL_VERSION and after == #data + 1
    and inRange(math.min(since, till, lifted, forgotten, changed), since + till + lifted + forgotten + changed)
    -- Replies have 64 bits for its microseconds.
    and till * 1000 < 2 ^ 63
    -- Only the clients parse the rest of the text.
    and (spec == '' or spec:sub(1, 2) == '[[')
  if not holds then refuseKey(key, CONTROL_SAYS, 'other data') end
  return {
    pausedSince = since, pausedUntil = till, liftedUntil = lifted, forgotten = forgotten, changed = changed, spec = spec,
  }
end

-- The fast path does not read the control of the fleet's ledger, so a change of the control changes this ledger, too: it is not
-- calm before a call has taken the slow path. Its key is that of the control, without ':control'.
local function endCalm(key)
  local ledger = key:sub(1, -9)
  local head = redis.pcall('GETRANGE', ledger, '0', '20')
  local isSmall = #head == 21 and head:byte(2) == VERSION and head:byte(1) ~= WHOLE_KIND
  if isSmall then writeLater('SETRANGE', ledger, CALM_AT, ('\255'):rep(6)) end
end

-- A stored rate has no expiry. A pause alone expires when it ends, or would have ended if it was lifted.
local function saveControl(key, control, now)
  endCalm(key)
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

-- After the clock has stepped back, a pause ends after its original length, counted from now. Returns whether
-- the control changed.
local function followPause(control, now)
  if now >= control.pausedSince or control.pausedUntil == 0 then return false end
  control.pausedUntil = now + control.pausedUntil - control.pausedSince
  control.pausedSince = now
  -- A ledger that has not seen the step would take the earlier end for a lifted pause.
  control.liftedUntil = 0
  return true
end
