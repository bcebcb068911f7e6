-- Takes grants and reservations back, once for each sequence of a limiter. The twin of src/stores/memory/refund.ts.
--
-- KEYS[1]   the ledger
-- KEYS[2]   the limiter's last sequence
-- KEYS[3]   the control
-- KEYS[4…]  the log of each limit
--
-- ARGV[1]   the limits, and
-- ARGV[2]   whether they were stored, as in reserve.lua
-- ARGV[3]   the sequence
-- ARGV[4]   how many refunds follow: each is the granted moment in milliseconds, or NEWEST for what was granted last, or DEBT
--           for what was used without being granted; the epoch, a count, and the cost in permits for each limit
-- then, in tests only, the server's time in microseconds
--
-- Reply: the limits in force, as text, where they are others; else a list of 1 or 0 for each refund, whether it gave anything
-- back to the limits, an empty one where the sequence was known already.

-- @include "ledger/state"
-- @include "ledger/pace"

local NEWEST, DEBT = -1, -2
-- A sequence is remembered for at least so many milliseconds. A release takes from what is there when it comes, a bucket that was
-- never full since gives back a grant of any time, and a longer interval may have been stored since.
local RESENT = 60000
-- A debt is charged up to so many windows, or bursts.
local MOST_DEBT = 1000
-- Into so many parts a debt is split, unless a part would be more than a window, or a burst.
local DEBT_PARTS = 100

local logs = {}
for i = 4, #KEYS do logs[i - 3] = KEYS[i] end
local sequence, count, position = tonumber(ARGV[3]), tonumber(ARGV[4]), 5
local serverUs = serverTime(ARGV[position + count * (3 + #logs)])

local ledger, instant = openLedger(KEYS, ARGV[1], ARGV[2], logs, serverUs)
if not ledger then return instant end
local known = readKey('sequence of refunds', 'GET', KEYS[2])
local fresh = not known
if known then
  local whole, last, till = pcall(struct.unpack, '<dd', known)
  if not (whole and #known == 16 and inRange(math.min(last, till), last + till)) then refuseKey(KEYS[2], 'sequence of refunds') end
  fresh = till <= instant.now or sequence > last
end
-- Takes a grant or reservation back, and says whether that gave anything back to a limit.
local function giveBack(moment, epoch, cost, requests)
  local now, t, back = instant.now, moment + ledger.shift, 0
  -- Of what was forgotten or made void nothing counts any more.
  if moment ~= NEWEST and (epoch < ledger.refundable or t >= standingUntil(ledger, epoch)) then return 0 end
  local isAhead = moment ~= NEWEST and t > now
  -- A release takes from all that is granted by the time rounded up: no hole may lose what it is charged with.
  if moment == NEWEST then closeHoles(ledger, now, instant.at) end
  if now < ledger.pacedUntil then
    -- What was booked under another rate may be more than this one allows.
    local isInside = isAhead and epoch == ledger.epoch and t < newestOf(ledger, cost, false)
    if isInside and addHole(ledger, t, cost, requests) then return 1 end
    noteReturned(ledger, now, cost, requests, isAhead)
  end
  for i, state in ipairs(ledger.limits) do
    local n, algebra = cost[i] * requests, algebraOf(state.kind)
    if n > 0 and moment == NEWEST then
      back = back + algebra.release(state, now, instant.at, n)
    elseif n > 0 then
      back = back + algebra.refund(state, now, t, n)
    end
  end
  closeEnd(ledger, now)
  if back > 0 and not isAhead then noteFreed(ledger, cost, requests) end
  return back > 0 and 1 or 0
end

-- Charges a limit for what is free now, and for the rest in parts, each at the moment at which it is free.
local function chargeLimit(state, permits)
  local algebra, now, at, most = algebraOf(state.kind), instant.now, instant.at, state.burst or state.permits
  local left = math.min(permits, MOST_DEBT * most)
  local part, free = math.min(most, math.ceil(left / DEBT_PARTS)), math.min(left, algebra.available(state, now, at))
  if free > 0 then algebra.commit(state, now, at, free) end
  left = left - free
  while left > 0 do
    local least = math.min(left, part)
    local t = math.max(at, algebra.earliest(state, now, at, least))
    local n = math.min(left, algebra.fit(state, now, t, 1))
    if not (inRange(t, t) and n >= least) then error('the log does not agree with the ledger', 0) end
    algebra.commit(state, now, t, n)
    left = left - n
  end
end

-- Charges what was used without being granted: no request waits for it.
local function charge(cost, requests)
  for i, state in ipairs(ledger.limits) do
    if cost[i] > 0 then chargeLimit(state, cost[i] * requests) end
  end
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
end
if fresh then
  -- Remembered for as long as the same call, sent again, could take anything back: until all that stood before it has
  -- come back, and for one interval more, as a window that it emptied may have started anew.
  local till = instant.now + RESENT
  for i = 1, #ledger.limits do till = math.max(till, ledger.expires + ledger.limits[i].interval) end
  -- Saved before the ledger: where that fails, what was given back goes on counting, and the call sent again gives nothing.
  writeLater('SET', KEYS[2], struct.pack('<dd', sequence, till), 'PX', string.format('%.0f', till - instant.now))
end
saveLedger(KEYS[1], ledger, instant)
return restored
