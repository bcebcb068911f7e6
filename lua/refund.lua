-- Refunds grants and reservations, once per sequence number of a limiter object. The twin of src/stores/memory/refund.ts.
--
-- KEYS[1]   the ledger
-- KEYS[2]   the last sequence number: each limiter object counts its own refunds, and has several keys for calls in flight together
-- KEYS[3]   the control
-- KEYS[4…]  the log of each limit
--
-- ARGV[1]   the limits that the client expects to be in force, as in reserve.lua
-- ARGV[2]   1 if these were stored, 0 if they are the client's own; then the client
-- ARGV[3]   the sequence number of this call
-- ARGV[4]   the number of refunds that follow. Each is: the granted moment in milliseconds, or NEWEST for the newest grants,
--           or DEBT to charge permits that were used without a grant; the epoch; the number of requests; and the cost in
--           permits for each limit
-- last, in tests only: the server's time in microseconds
--
-- Reply: the limits in force as text, if they differ from ARGV[1]. Otherwise a list with 1 for each refund that restored
-- permits, else 0; an empty list if the sequence number was known already.

-- @include "ledger/state"
-- @include "ledger/add-hole"
-- @include "ledger/debts"
-- @include "ledger/move-up"
-- @include "ledger/order"

local NEWEST, DEBT = -1, -2
-- A refund after the interval, of which nothing comes back, counts as this part: others are likely to come earlier.
local LEAST_BACK = 0.2
-- A sequence number is remembered for at least this many milliseconds. The time until the earlier grants expire may
-- be too short: a repeated release takes from newer grants, a bucket that has not been full since restores a grant
-- of any age, and a longer interval may have been stored in the meantime.
local RESENT = 60000

local logs = {}
for i = 4, #KEYS do logs[i - 3] = KEYS[i] end
local sequence, count, position = tonumber(ARGV[3]), tonumber(ARGV[4]), 5
local serverUs = serverTime(ARGV[position + count * (3 + #logs)])

local ledger, instant = openLedger(KEYS, limitsIn(ARGV[1]), ARGV[2], logs, serverUs)
if not ledger then return instant end
local known = readString('sequence of refunds', KEYS[2])
local fresh = not known
if known then
  local whole, last, till = pcall(struct.unpack, '<dd', known)
  if not (whole and #known == 16 and inRange(math.min(last, till), last + till)) then
    refuseKey(KEYS[2], 'sequence of refunds', 'other data')
  end
  fresh = till <= instant.now or sequence > last
end
-- How much of a permit that is refunded at this age comes back. A late one of a window counts for the rest of the interval, as it
-- is granted again as much less often. A fixed window grants more of its permits early, so more come back before it ends. A bucket
-- returns all of it.
local function partBack(age)
  if not hasWindow(ledger) or not isLate(ledger, age) then return 1 end
  local passed = math.min(1, age / longestInterval(ledger))
  return math.max(LEAST_BACK, 1 - (hasKind(ledger, 'f') and passed * (3 + passed) / 4 or passed))
end

-- Refunds one grant or reservation. Returns whether that restored permits to any limit.
local function giveBack(moment, epoch, cost, requests)
  local now, t, back = instant.now, moment + ledger.shift, 0
  -- Forgotten grants and void reservations no longer count.
  if moment ~= NEWEST and (epoch < ledger.refundable or t >= validUntil(ledger, epoch)) then return 0 end
  local isAhead = moment ~= NEWEST and t > now
  -- A release takes from all grants up to `at`. Refunding due holes first keeps it from taking the permits
  -- that a hole is charged with.
  if moment == NEWEST then closeHoles(ledger, now, instant.at) end
  if now < ledger.pacedUntil then
    -- A reservation made under another rate may exceed what this one allows, so it must not become a hole.
    local isInside = isAhead and epoch == ledger.epoch and t < newestOf(ledger, cost, false)
    if isInside and addHole(ledger, t, cost, requests) then return 1 end
    if isAhead then
      noteCancelled(ledger, now, cost, requests)
    else
      -- Lowers future strides.
      local returned = ledger.returned + loadOf(ledger, cost) * requests * partBack(moment == NEWEST and 0 or now - t)
      ledger.returned = math.min(ledger.granted, returned)
    end
  end
  for i, state in ipairs(ledger.limits) do
    local n, algebra = cost[i] * requests, algebraOf(state.kind)
    if n > 0 and moment == NEWEST then
      back = back + algebra.release(state, now, instant.at, n)
    elseif n > 0 then
      back = back + algebra.refund(state, now, t, n)
    end
  end
  -- Refunds the holes that no reservation follows any more.
  local holes = ledger.holes
  while #holes > 0 and holes[#holes].moment >= newestOf(ledger, holes[#holes].cost, false) do
    giveHoleBack(ledger, table.remove(holes), now)
  end
  -- Without a reservation ahead, nothing can move up.
  local isAwaited = now < ledger.pacedUntil or newestOf(ledger, cost, false) > instant.at
  local mayMoveUp = not isAhead and (back > 0 or areRare(ledger))
  -- If permits are free, but fewer than a request asked for, those behind it may have waited for it alone.
  for i, state in ipairs(isAhead and ledger.limits or {}) do
    local hasGap = algebraOf(state.kind).hasGap
    local function isFree(n) return hasGap(state, now, instant.at, n, math.huge, true, 0) end
    mayMoveUp = mayMoveUp or (cost[i] > 1 and isFree(1) and not isFree(cost[i]))
  end
  -- No client asks for an earlier moment for a debt that is charged later.
  if isAhead and back > 0 then
    for _, debt in ipairs(ledger.debts) do
      mayMoveUp = mayMoveUp or (cost[debt.limit] > 0 and debt.till > t)
    end
  end
  if mayMoveUp and isAwaited then
    noteFreed(ledger, cost, requests)
    if now < ledger.pacedUntil then goOnInTurns(ledger, now, moment == NEWEST and 0 or now - t, loadOf(ledger, cost)) end
  end
  return back > 0 and 1 or 0
end

-- Charges permits that were used without a grant.
local function charge(cost, requests)
  for i = 1, #logs do
    if cost[i] > 0 then ledger.debts[#ledger.debts + 1] = { limit = i, till = 0, permits = cost[i] * requests, tail = 0 } end
  end
  chargeDebts(ledger, instant)
  return 0
end

local restored = {}
if fresh then
  for i = 1, count do
    local moment, epoch, requests, cost = tonumber(ARGV[position]), tonumber(ARGV[position + 1]), tonumber(ARGV[position + 2]), {}
    for limit = 1, #logs do cost[limit] = tonumber(ARGV[position + 2 + limit]) end
    if moment == DEBT then restored[i] = charge(cost, requests) else restored[i] = giveBack(moment, epoch, cost, requests) end
    position = position + 3 + #logs
  end
  -- Remembers the sequence number for as long as a repeated call could restore anything: until all earlier
  -- grants have expired, and one interval more, since a window that this call emptied may have started again.
  local till = math.max(instant.now + RESENT, ledger.expires + longestInterval(ledger))
  -- Written before the ledger. If writing the ledger fails, the refunded permits still count as taken, and a
  -- repeated call restores nothing.
  writeLater('SET', KEYS[2], struct.pack('<dd', sequence, till), 'PX', string.format('%.0f', till - instant.now))
  -- Now, not at the next call: by then, reservations that are more than the notice period ahead would be too near to move.
  moveUp(ledger, instant, serverUs)
end
saveLedger(KEYS[1], ledger, instant)
return restored
