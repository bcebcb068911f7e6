-- @include "limits/sliding-window"
-- @include "limits/fixed-window"
-- @include "limits/token-bucket"
-- @include "ledger/control"

-- The ledger of one limiter: opened at the server's time under the limits in force, and saved once at the end.
-- The twin of src/stores/memory/ledgerState.ts. All but the logs lies in one string, so that a call is one GET and one SET.
--
-- `spec` is the JSON text of the limits in force, [[name, kind, permits, interval, extra], …], the names as they stand in
-- the keys of their logs: as long as it is the text in the ledger, nobody has to read it.

local VERSION = 2
local HEADER = '<dddddddddddddIc0Ic0Ic0'
-- Clients with waiters ask at least so often: milliseconds. What is booked further ahead can be made void.
local HEARD = 2000
local makers = { s = slidingWindow, f = fixedWindow, t = tokenBucket }
local algebras = {}

-- The functions of the limits of a kind, made when they are first asked for.
local function algebraOf(kind)
  if not algebras[kind] then algebras[kind] = makers[kind]() end
  return algebras[kind]
end

local function changeEpoch(ledger, serverUs)
  ledger.epoch = math.max(ledger.epoch + 1, serverUs)
end

local function createLedger(spec, logs, epoch, serverUs)
  local ledger = {
    epoch = epoch, shift = 0, seen = math.floor(serverUs / 1000), expires = 0, frontier = 0,
    pacedUntil = 0, soleUntil = 0, crowdUntil = 0, voidEpoch = epoch, voidFrom = 0, heardBy = 0, pausedUntil = 0, sole = '',
    spec = spec, limits = {},
  }
  for i, limit in ipairs(cjson.decode(spec)) do ledger.limits[i] = algebraOf(limit[2]).create(limit, logs[i]) end
  return ledger
end

local function packLedger(ledger)
  local kinds, states = '', ''
  for i = 1, #ledger.limits do
    local state = ledger.limits[i]
    kinds, states = kinds .. state.kind, states .. algebraOf(state.kind).encode(state)
  end
  return struct.pack(HEADER, VERSION, ledger.epoch, ledger.shift, ledger.seen, ledger.expires, ledger.frontier,
    ledger.pacedUntil, ledger.soleUntil, ledger.crowdUntil, ledger.voidEpoch, ledger.voidFrom, ledger.heardBy,
    ledger.pausedUntil, #ledger.sole, ledger.sole, #ledger.spec, ledger.spec, #kinds, kinds) .. states
end

local function unpackLedger(data, logs)
  local version, epoch, shift, seen, expires, frontier, pacedUntil, soleUntil, crowdUntil, voidEpoch, voidFrom, heardBy,
    pausedUntil, sole, spec, kinds, position = struct.unpack(HEADER, data)
  if version ~= VERSION then error('the key holds no ledger of version ' .. VERSION) end
  local limits = {}
  for i = 1, #kinds do
    limits[i], position = algebraOf(kinds:sub(i, i)).decode(data, position, logs[i])
  end
  return {
    epoch = epoch, shift = shift, seen = seen, expires = expires, frontier = frontier, pacedUntil = pacedUntil,
    soleUntil = soleUntil, crowdUntil = crowdUntil, voidEpoch = voidEpoch, voidFrom = voidFrom, heardBy = heardBy,
    pausedUntil = pausedUntil, sole = sole, spec = spec, limits = limits,
  }
end

-- A clock that has stepped back is followed from where the ledger stood.
local function followClock(ledger, serverUs)
  local now = math.floor(serverUs / 1000) + ledger.shift
  if now < ledger.seen then
    ledger.shift = ledger.shift + ledger.seen - now
    changeEpoch(ledger, serverUs)
  else
    ledger.seen = now
  end
end

-- A state of the limit that starts with permits taken: as many as it knows of, as one grant at the newest moment.
local function startWith(limit, log, permits, newest, latest, now, shift)
  local algebra = algebraOf(limit[2])
  local state = algebra.create(limit, log)
  algebra.roll(state, now, shift)
  local at, taken = math.max(now, newest), math.min(permits, state.burst or state.permits)
  if taken > 0 then algebra.commit(state, now, at, taken) end
  -- None of what was granted before can be told apart in it.
  state.born = math.max(at, latest) + 1
  return state
end

-- Brings the ledger under other limits, by what is taken.
local function convert(ledger, spec, logs, now)
  local before, permits, newest, latest = {}, 0, 0, 0
  for i, limit in ipairs(cjson.decode(ledger.spec)) do
    local state = ledger.limits[i]
    local p, t, last = algebraOf(state.kind).taken(state)
    before[limit[1]] = { spec = limit, state = state }
    permits, newest, latest = math.max(permits, p), math.max(newest, t), math.max(latest, last)
  end
  local limits = {}
  for i, limit in ipairs(cjson.decode(spec)) do
    local old = before[limit[1]]
    if old and old.state.kind == limit[2] then
      local same = old.spec[3] == limit[3] and old.spec[4] == limit[4] and old.spec[5] == limit[5]
      limits[i] = old.state
      if not same then algebraOf(old.state.kind).adopt(old.state, limit) end
    else
      local p, t, last = permits, newest, latest
      if old then p, t, last = algebraOf(old.state.kind).taken(old.state) end
      limits[i] = startWith(limit, logs[i], p, t, last, now, ledger.shift)
    end
  end
  ledger.limits, ledger.spec = limits, spec
end

-- Takes back what is booked for later than a moment, by which its clients will have heard of it: they ask again.
local function voidBookings(ledger, now, after)
  -- Who has not heard of the change before this one, either, must not count on what that one made void.
  if ledger.heardBy <= now then ledger.voidFrom = after end
  ledger.voidFrom = math.min(ledger.voidFrom, after)
  ledger.heardBy = after + HEARD
  ledger.frontier = math.min(ledger.frontier, after)
  for i = 1, #ledger.limits do algebraOf(ledger.limits[i].kind).cut(ledger.limits[i], now, after) end
end

-- The ledger as it stands at the server's time in microseconds, and the time as the ledger sees it:
-- `us` the true now, `now` in milliseconds rounded down, `at` rounded up.
--
-- `spec` holds the limits that the client takes to be in force, `stored` says whether they were stored ('1') or are its
-- own. Where others are in force: nothing, and the text of those that are stored, or an empty list for the client's own.
local function openLedger(keys, spec, stored, logs, serverUs)
  local key = keys[1]
  local control = openControl(keys[3])
  local rules = control.spec ~= ''
  if rules and control.spec ~= spec then return nil, control.spec end
  if not rules and stored == '1' then return nil, '[]' end
  local data = redis.call('GET', key)
  local ledger, forgotten
  if data then
    ledger = unpackLedger(data, logs)
    -- Before the clock is followed, as a step gives it a new epoch.
    forgotten = ledger.epoch < control.forgotten
    -- Other limits than the caller's, or in another order: their logs are not those that it names.
    if ledger.spec ~= spec then
      for i, limit in ipairs(cjson.decode(ledger.spec)) do ledger.limits[i].log = key .. ':log:' .. limit[1] end
    end
    followClock(ledger, serverUs)
  end
  if not ledger or ledger.expires <= ledger.seen or forgotten then
    -- Above the epoch of a ledger that is over, though the clock has stepped back since.
    local epoch = math.max((ledger and ledger.epoch or 0) + 1, control.forgotten, serverUs)
    ledger = createLedger(spec, logs, epoch, serverUs)
  end
  local serverMs = math.floor(serverUs / 1000)
  local now = serverMs + ledger.shift
  followPause(keys[3], control, serverMs)
  for i = 1, #ledger.limits do algebraOf(ledger.limits[i].kind).roll(ledger.limits[i], now, ledger.shift) end
  local pausedUntil = control.pausedUntil + ledger.shift
  if ledger.pausedUntil > now and pausedUntil < ledger.pausedUntil and control.liftedUntil > serverMs then
    -- Another client has lifted the pause: whoever is booked behind it hears of that in time.
    voidBookings(ledger, now, now + HEARD)
    changeEpoch(ledger, serverUs)
    ledger.voidEpoch = ledger.epoch
  end
  ledger.pausedUntil = pausedUntil
  if ledger.spec ~= spec then
    -- A client with a ledger of its own may come to it some time after the change.
    if rules then voidBookings(ledger, now, math.max(now, math.min(control.changed, serverMs) + ledger.shift + HEARD)) end
    convert(ledger, spec, logs, now)
    changeEpoch(ledger, serverUs)
    if rules then ledger.voidEpoch = ledger.epoch end
  end
  return ledger, { us = serverUs + ledger.shift * 1000, now = now, at = math.ceil(serverUs / 1000) + ledger.shift }
end

-- Microseconds from now from which on nothing stands that was booked by a client who knows an epoch, or -1.
local function standingOf(ledger, instant, known)
  if known == 0 or known == ledger.epoch then return -1 end
  if known >= ledger.voidEpoch and known < ledger.epoch then return -1 end
  return math.max(0, ledger.voidFrom * 1000 - instant.us)
end

-- Microseconds until the pause ends, or -1.
local function pausedFor(ledger, instant)
  local left = ledger.pausedUntil * 1000 - instant.us
  return left > 0 and left or -1
end

-- The permits of each limit that could be granted at once.
local function availableNow(ledger, instant)
  local permits, paused = {}, ledger.pausedUntil > instant.now
  for i, state in ipairs(ledger.limits) do
    permits[i] = paused and 0 or algebraOf(state.kind).available(state, instant.now, instant.at)
  end
  return permits
end

-- The moment at which everything granted and booked will have come back.
local function fullAt(ledger, now)
  local full = now
  for i = 1, #ledger.limits do
    local state = ledger.limits[i]
    full = math.max(full, algebraOf(state.kind).full(state, now))
  end
  return full
end

-- Saves the ledger for as long as it is needed: until all has come back, and all clients have heard of a change.
local function saveLedger(key, ledger, instant)
  local now = instant.now
  for i = 1, #ledger.limits do algebraOf(ledger.limits[i].kind).save(ledger.limits[i], now) end
  ledger.expires = math.max(now + 1, fullAt(ledger, now), ledger.heardBy)
  redis.call('SET', key, packLedger(ledger), 'PX', string.format('%.0f', ledger.expires - now))
end

-- The server's time in microseconds; a test may hand in its own.
local function serverTime(own)
  if own then return tonumber(own) end
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end
