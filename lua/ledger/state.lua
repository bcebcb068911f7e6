-- @include "ledger/reading"
-- @include "ledger/writing"
-- @include "ledger/control"
-- @include "ledger/epochs"
-- @include "ledger/holes"
-- @include "ledger/format"

-- The ledger of one limiter: opened at the server's time under the limits in force, and saved once at the end.
-- The twin of src/stores/memory/ledgerState.ts. All but long logs lies in one string, so that a call is one GET and one SET.
--
-- `spec` is the JSON text of the limits in force, [[name, kind, permits, interval, extra], …], the names as they stand in
-- the keys of their logs: as long as it is the text in the ledger, nobody has to read it.

local function createLedger(spec, logs, epoch, serverUs)
  local ledger = {
    epoch = epoch, born = epoch, refundable = epoch, shift = 0, seen = math.floor(serverUs / 1000), expires = 0, pausedUntil = 0,
    soleUntil = 0, crowdUntil = 0, frontier = 0, pacedUntil = 0, granted = 0, returned = 0, freed = 0, movedAt = 0,
    credit = 0,
    sole = '', spec = spec, limits = {}, voids = {}, holes = {}, kept = 0,
  }
  for i, limit in ipairs(cjson.decode(spec)) do ledger.limits[i] = algebraOf(limit[2]).create(limit, logs[i]) end
  return ledger
end

-- A clock that has stepped back is followed from where the ledger stood.
local function followClock(ledger, serverUs)
  local now = math.floor(serverUs / 1000) + ledger.shift
  if now < ledger.seen then
    ledger.shift = ledger.shift + ledger.seen - now
    changeEpoch(ledger, serverUs)
    ledger.refundable = ledger.epoch
    -- The grid of windows moves with the clock: what was booked before lies elsewhere on it.
    ledger.holes = {}
  else
    ledger.seen = now
  end
end

-- A state of the limit that starts with permits taken: as many as it knows of, as one grant at the newest moment.
local function startWith(limit, log, permits, newest, now, shift)
  local algebra = algebraOf(limit[2])
  local state = algebra.create(limit, log)
  algebra.roll(state, now, shift)
  local at, taken = math.max(now, newest), math.min(permits, state.burst or state.permits)
  if taken > 0 then algebra.commit(state, now, at, taken) end
  return state
end

-- Brings the ledger under other limits, by what is taken.
local function convert(ledger, spec, logs, now)
  local before, permits, newest = {}, 0, 0
  for i, limit in ipairs(cjson.decode(ledger.spec)) do
    local state = ledger.limits[i]
    local p, t = algebraOf(state.kind).taken(state)
    before[limit[1]] = { spec = limit, state = state }
    permits, newest = math.max(permits, p), math.max(newest, t)
  end
  local limits = {}
  for i, limit in ipairs(cjson.decode(spec)) do
    local old = before[limit[1]]
    if old and old.state.kind == limit[2] then
      local same = old.spec[3] == limit[3] and old.spec[4] == limit[4] and old.spec[5] == limit[5]
      limits[i] = old.state
      if not same then algebraOf(old.state.kind).adopt(old.state, limit) end
    else
      local p, t = permits, newest
      if old then p, t = algebraOf(old.state.kind).taken(old.state) end
      -- Of what was granted before, nothing can be told apart in it.
      ledger.refundable = ledger.epoch
      limits[i] = startWith(limit, logs[i], p, t, now, ledger.shift)
    end
  end
  ledger.limits, ledger.spec, ledger.holes = limits, spec, {}
end

-- The ledger as it stands at the server's time in microseconds, and the time as the ledger sees it:
-- `us` the true now, `now` in milliseconds rounded down, `at` rounded up.
--
-- `spec` holds the limits that the client takes to be in force, `stored` says whether they were stored ('1') or are its
-- own. Where others are in force: nothing, and the text of those that are stored, or an empty list for the client's own.
--
-- `control` is what will be in force: else that which is stored.
local function openLedger(keys, spec, stored, logs, serverUs, control)
  control = control or openControl(keys[3])
  local rules = control.spec ~= ''
  if rules and control.spec ~= spec then return nil, control.spec end
  if not rules and stored == '1' then return nil, '[]' end
  local ledger, forgotten = readLedger(keys[1], spec, logs), false
  if ledger then
    -- Before the clock is followed, as a step gives it a new epoch.
    forgotten = ledger.epoch < control.forgotten
    followClock(ledger, serverUs)
  end
  if not ledger or ledger.expires <= ledger.seen or forgotten then
    -- Above the epoch of a ledger that is over, though the clock has stepped back since.
    local epoch = math.max((ledger and ledger.epoch or 0) + 1, control.forgotten, serverUs)
    ledger = createLedger(spec, logs, epoch, serverUs)
  end
  local serverMs = math.floor(serverUs / 1000)
  local now = serverMs + ledger.shift
  if followPause(control, serverMs) then saveControl(keys[3], control, serverMs) end
  for i = 1, #ledger.limits do algebraOf(ledger.limits[i].kind).roll(ledger.limits[i], now, ledger.shift) end
  closeHoles(ledger, now, now)
  local pausedUntil = control.pausedUntil + ledger.shift
  if ledger.pausedUntil > now and pausedUntil < ledger.pausedUntil and control.liftedUntil > serverMs then
    -- Another client has lifted the pause: whoever is booked behind it hears of that in time.
    voidBookings(ledger, now, now + HEARD, serverUs)
  end
  ledger.pausedUntil = pausedUntil
  if ledger.spec ~= spec then
    -- A client with a ledger of its own may come to it some time after the change.
    if rules then
      voidBookings(ledger, now, math.max(now, math.min(control.changed, serverMs) + ledger.shift + HEARD), serverUs)
    else
      changeEpoch(ledger, serverUs)
    end
    convert(ledger, spec, logs, now)
  end
  return ledger, { us = serverUs + ledger.shift * 1000, now = now, at = math.ceil(serverUs / 1000) + ledger.shift }
end

-- Microseconds from now from which on nothing stands that was booked by a client who knows an epoch, or -1.
local function standingOf(ledger, instant, known)
  if known == 0 or known == ledger.epoch then return -1 end
  local till = standingUntil(ledger, known)
  return till == math.huge and -1 or math.max(0, till * 1000 - instant.us)
end

-- Microseconds until the pause ends, or -1.
local function pausedFor(ledger, instant)
  local left = ledger.pausedUntil * 1000 - instant.us
  return left > 0 and left or -1
end

-- A count as a reply: as text where it is so large that a client's parser may round it on the way.
local function counted(n)
  return n < 2 ^ 52 and n or string.format('%.0f', n)
end

-- The permits of each limit that could be granted at once.
local function availableNow(ledger, instant)
  local permits, paused = {}, ledger.pausedUntil > instant.now
  for i, state in ipairs(ledger.limits) do
    permits[i] = paused and 0 or counted(algebraOf(state.kind).available(state, instant.now, instant.at))
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

-- Saves the ledger for as long as it is needed: until all has come back, and all clients have heard of a change. All
-- other writes come before it: one that Redis refuses leaves the ledger as it was, which counts no less.
--
-- Its keys live up to twice as long, so that few calls say anew how long: `kept` is the moment until which they do.
local function saveLedger(key, ledger, instant)
  local now = instant.now
  ledger.expires = math.max(now + 1, fullAt(ledger, now), heardBy(ledger))
  local need, left, lives = ledger.expires - now, ledger.kept - now, nil
  if need > left or left > 4 * need then
    left = need + math.min(need, MOST_SLACK)
    ledger.kept, lives = now + left, string.format('%.0f', left)
  end
  makeWrites()
  local small = isSmall(ledger)
  for i = 1, #ledger.limits do
    algebraOf(ledger.limits[i].kind).save(ledger.limits[i], small, lives, string.format('%.0f', left))
  end
  if lives then
    redis.call('SET', key, packLedger(ledger, now, small), 'PX', lives)
  else
    redis.call('SET', key, packLedger(ledger, now, small), 'KEEPTTL')
  end
end

-- The server's time in microseconds; a test may hand in its own.
local function serverTime(own)
  if own then return tonumber(own) end
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end
