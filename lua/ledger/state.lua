-- @include "ledger/reading"
-- @include "ledger/writing"
-- @include "ledger/control"
-- @include "ledger/epochs"
-- @include "ledger/holes"
-- @include "ledger/format"
-- @include "ledger/debts"

-- The ledger of one limiter. A script opens it at the server's time under the limits in force, and saves it
-- once at the end. It is one string, except for long logs, so that a call reads and writes it with one command
-- each. The twin of src/stores/memory/openLedger.ts; ledgerState.ts describes the fields.
--
-- `spec` is the JSON text of the limits in force, [[name, kind, permits, interval, extra], …], with the names
-- as in the keys of their logs. It is parsed only if it differs from the text in the ledger.

local function createLedger(spec, logs, epoch, serverUs)
  local ledger = {
    epoch = epoch, born = epoch, refundable = epoch, shift = 0, seen = math.floor(serverUs / 1000), expires = 0, pausedUntil = 0,
    soleUntil = 0, crowdUntil = 0, frontiers = {}, pacedUntil = 0, granted = 0, returned = 0, freed = 0, movedAt = 0, lateAt = 0,
    credit = 0, largest = 0, largestUntil = 0, farthest = 0, farthestUntil = 0, sole = '', spec = spec, limits = {}, voids = {},
    holes = {}, tickets = {}, debts = {}, kept = 0,
  }
  for i, limit in ipairs(cjson.decode(spec)) do ledger.limits[i] = algebraOf(limit[2]).create(limit, logs[i]) end
  return ledger
end

-- Follows the server's clock. If it has stepped back, the ledger's own clock continues from where it was.
local function followClock(ledger, serverUs)
  local now = math.floor(serverUs / 1000) + ledger.shift
  if now < ledger.seen then
    ledger.shift = ledger.shift + ledger.seen - now
    changeEpoch(ledger, serverUs)
    ledger.refundable = ledger.epoch
    -- The grid of windows moves with the clock, so earlier reservations no longer fit it.
    ledger.holes = {}
  else
    ledger.seen = now
  end
end

-- A new state with `permits` already taken, recorded as one grant at the newest moment, if that is known. None is forgotten, even
-- if they are more than the limit has: clients that use two limits under one name would otherwise undo each other's grants.
local function startWith(limit, log, permits, newest, now, shift)
  local algebra = algebraOf(limit[2])
  local state = algebra.create(limit, log)
  -- Not at present: if two limits are in force in turn, the permits would never come back. A bucket has to refill all of them.
  local at = newest > 0 and newest or now
  local from, taken = state.burst and now or math.min(now, at), math.min(permits, state.burst or permits)
  algebra.roll(state, from, shift)
  if taken > 0 then algebra.commit(state, from, at, taken) end
  -- The full bucket would lose its refill until `at`. That refill covers a part of the other permits instead.
  local owed = (permits - taken) * state.interval - math.max(0, at - now) * state.permits
  if state.burst and owed > 0 then algebra.owe(state, owed) end
  algebra.roll(state, now, shift)
  return state
end

-- Converts the ledger to other limits. The permits taken carry over.
local function convert(ledger, spec, logs, now)
  local before, places, permits, newest = {}, {}, 0, 0
  for i, limit in ipairs(cjson.decode(ledger.spec)) do
    local state = ledger.limits[i]
    local p, t = algebraOf(state.kind).taken(state)
    before[limit[1]] = { spec = limit, state = state, place = i }
    permits, newest = math.max(permits, p), math.max(newest, t)
  end
  local limits = {}
  for i, limit in ipairs(cjson.decode(spec)) do
    local old = before[limit[1]]
    if old then places[old.place] = i end
    if old and old.state.kind == limit[2] then
      local same = old.spec[3] == limit[3] and old.spec[4] == limit[4] and old.spec[5] == limit[5]
      limits[i] = old.state
      if not same and algebraOf(old.state.kind).adopt(old.state, limit) then ledger.refundable = ledger.epoch end
    else
      -- The permits of another name may count something else, so no more of them than a full limit has.
      local p, t = math.min(permits, limit[2] == 't' and limit[5] or limit[3]), newest
      if old then p, t = algebraOf(old.state.kind).taken(old.state) end
      -- The new state holds earlier grants as one, so they cannot be refunded one by one.
      ledger.refundable = ledger.epoch
      limits[i] = startWith(limit, logs[i], p, t, now, ledger.shift)
    end
  end
  local debts = {}
  for _, debt in ipairs(ledger.debts) do
    debt.limit = places[debt.limit]
    if debt.limit then debts[#debts + 1] = debt end
  end
  ledger.debts = debts
  ledger.limits, ledger.spec, ledger.checked, ledger.holes, ledger.frontiers, ledger.largestUntil = limits, spec, nil, {}, {}, 0
end

local STORED = '1'

-- Opens the ledger at the server's time in microseconds. Returns it, and the time by the ledger's clock: `us`
-- in microseconds, `now` in milliseconds rounded down, `at` rounded up.
--
-- `spec` holds the limits that the client expects to be in force; `origin` begins with STORED if these were
-- stored. If others are in force, it returns nil and the stored limits as text, or an empty list if the client's
-- own apply.
--
-- `control` replaces the stored control, for a script that is about to change it.
local function openLedger(keys, spec, origin, logs, serverUs, control)
  control = control or openControl(keys[3])
  local rules = control.spec ~= ''
  if rules and control.spec ~= spec then return nil, control.spec end
  if not rules and origin:sub(1, 1) == STORED then return nil, '[]' end
  local ledger, forgotten = readLedger(keys[1], spec, logs), false
  if ledger then
    -- Compared before the clock is followed, as a step back changes the epoch.
    forgotten = ledger.epoch < control.forgotten
    followClock(ledger, serverUs)
  end
  if not ledger or ledger.expires <= ledger.seen or forgotten then
    -- Later than the epoch of an expired ledger, even if the clock has stepped back since.
    local epoch = math.max((ledger and ledger.epoch or 0) + 1, control.forgotten, serverUs)
    ledger = createLedger(spec, logs, epoch, serverUs)
  end
  local serverMs = math.floor(serverUs / 1000)
  local now = serverMs + ledger.shift
  local instant = { us = serverUs + ledger.shift * 1000, now = now, at = math.ceil(serverUs / 1000) + ledger.shift }
  if followPause(control, serverMs) then saveControl(keys[3], control, serverMs) end
  for i = 1, #ledger.limits do
    algebraOf(ledger.limits[i].kind).roll(ledger.limits[i], now, ledger.shift, #ledger.limits == 1)
  end
  closeHoles(ledger, now, now)
  local pausedUntil = control.pausedUntil + ledger.shift
  if ledger.pausedUntil > now and pausedUntil < ledger.pausedUntil and control.liftedUntil > serverMs then
    -- Another client has lifted the pause. The reservations behind it become void, and their clients receive
    -- the change in time.
    voidReservations(ledger, now, now + NOTICE_PERIOD, serverUs)
    chargeDebts(ledger, instant)
  end
  ledger.pausedUntil = pausedUntil
  if ledger.spec ~= spec then
    -- With the scope `client`, a ledger may be opened some time after the change; and a stored rate that is deleted leaves the
    -- ledgers of the other clients, whose keys are longer than that of the control. In a ledger of several clients with limits of
    -- their own, each keeps its reservations.
    if rules or #keys[1] > #keys[3] then
      local changed = math.min(rules and control.changed or serverMs, serverMs)
      voidReservations(ledger, now, math.max(now, changed + ledger.shift + NOTICE_PERIOD), serverUs)
    else
      changeEpoch(ledger, serverUs)
    end
    convert(ledger, spec, logs, now)
    chargeDebts(ledger, instant)
  end
  return ledger, instant
end

-- The moment at which all permits will be free again.
local function fullAt(ledger, now)
  local full = now
  for i = 1, #ledger.limits do
    local state = ledger.limits[i]
    full = math.max(full, algebraOf(state.kind).full(state, now))
  end
  return full
end

-- Saves the ledger for as long as it is needed: until all grants have expired, all clients have received the
-- last change, and no client waits for rare permits. It is written after everything else, so that if Redis
-- refuses it, the old ledger stays, which counts no fewer permits.
--
-- The keys live up to twice as long as needed, so that few calls have to renew their expiry: `kept` is the
-- moment at which they expire.
local function saveLedger(key, ledger, instant)
  local now, last = instant.now, ledger.voids[#ledger.voids]
  local noticed = last and last.from + NOTICE_PERIOD or 0
  local used, isAligned = fullAt(ledger, now), false
  for i = 1, #ledger.limits do isAligned = isAligned or ledger.limits[i].epoch == 1 end
  -- After a step back of the clock, a window on it may be the present one again.
  if isAligned then used = used + LEAST_LIFE end
  ledger.expires = math.max(now + LEAST_LIFE, used, noticed, #ledger.tickets > 0 and ledger.pacedUntil or 0)
  if not inRange(ledger.expires, ledger.expires) then refuseKey(key, LEDGER_SAYS, 'a limit that is never free') end
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

-- The server's time in microseconds. Tests pass their own.
local function serverTime(own)
  if own then return tonumber(own) end
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end
