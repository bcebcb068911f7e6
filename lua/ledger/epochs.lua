-- @include "ledger/algebras"
-- @include "ledger/newest"

-- Which reservations are valid, by the epoch in which they were made. The twin of
-- src/stores/memory/epochs.ts.

-- Every client with waiting requests calls again within this many milliseconds, so reservations further ahead
-- can be voided.
local NOTICE_PERIOD = 2000
-- The most changes that are kept. If there are more, the two oldest are merged.
local MOST_VOIDS = 8

local function changeEpoch(ledger, serverUs)
  ledger.epoch = math.max(ledger.epoch + 1, serverUs)
end

-- Voids the reservations for `after` or later: their clients call again before that moment. Changes the
-- epoch. The limits may keep those up to `kept`, or `after`.
local function voidReservations(ledger, now, after, serverUs, kept)
  ledger.frontiers = {}
  local holes, voids = {}, ledger.voids
  for _, hole in ipairs(ledger.holes) do
    if hole.moment < after then holes[#holes + 1] = hole end
  end
  ledger.holes = holes
  for i = 1, #ledger.limits do algebraOf(ledger.limits[i].kind).cut(ledger.limits[i], now, kept or after) end
  changeEpoch(ledger, serverUs)
  while #voids > 1 and voids[1].from + NOTICE_PERIOD <= now do table.remove(voids, 1) end
  voids[#voids + 1] = { epoch = ledger.epoch, from = after }
  if #voids <= MOST_VOIDS then return end
  local oldest = table.remove(voids, 1)
  voids[1].from = math.min(voids[1].from, oldest.from)
end

-- Reservations of an epoch are void from this moment on: milliseconds, or infinity.
local function validUntil(ledger, epoch)
  if epoch < ledger.born then return 0 end
  local till = math.huge
  for _, void in ipairs(ledger.voids) do
    if void.epoch > epoch then till = math.min(till, void.from) end
  end
  return till
end

-- The last moment that a client has reserved, by the ledger's clock, or 0 if it has become void since the epoch that the client
-- knows. What was reserved before a change of the kind is due within the notice period; what was before a step of the clock seems
-- later than it is, but is no later than the newest reservation of all.
local function lastOf(ledger, now, moment, epoch, known)
  local t = moment + ledger.shift
  if not (moment > 0 and t < validUntil(ledger, math.max(epoch, known))) then return 0 end
  return epoch < ledger.refundable and math.min(t, now + NOTICE_PERIOD, newestOf(ledger)) or t
end
