-- @include "ledger/algebras"
-- @include "ledger/newest"

-- Which reservations are valid, by the epoch in which they were made. The twin of
-- src/stores/memory/epochs.ts.

-- Every client with waiting requests calls again within this many milliseconds, so reservations further ahead
-- can be voided.
local NOTICE_PERIOD = 2000
-- The most changes that are kept. If there are more, the two oldest are merged.
local MOST_VOIDS = 8

-- The most debts of one limit that are remembered. The last two of more are merged, as are those with the same last moment.
local MOST_DEBTS = 8

local function changeEpoch(ledger, serverUs)
  ledger.epoch = math.max(ledger.epoch + 1, serverUs)
end

local voidReservations

do
  -- Forgets the reservations of a limit later than `after`. Returns how many permits of its debts were charged there.
  local function cutLimit(ledger, now, limit, after)
    -- Several may be in one window or slot, which is forgotten as a whole: `left` are those of which it is not yet.
    local state, debts, owed, left = ledger.limits[limit], {}, 0, 0
    local cut = algebraOf(state.kind).cut
    for _, debt in ipairs(ledger.debts) do
      if debt.limit == limit and debt.till > after then debts[#debts + 1] = debt end
    end
    for i = #debts, 1, -1 do
      -- A debt takes all permits up to its last one: those later than that are of reservations.
      cut(state, now, debts[i].till)
      left = left + debts[i].permits
      local back = math.min(left, cut(state, now, i > 1 and debts[i - 1].till or after))
      owed, left = owed + back, left - back
    end
    cut(state, now, after)
    return owed
  end

  -- Voids the reservations for `after` or later: their clients call again before that moment. Changes the
  -- epoch. The limits may keep those up to `kept`, or `after`. The debts among them are to be charged again.
  function voidReservations(ledger, now, after, serverUs, kept)
    ledger.frontiers = {}
    local holes, voids = {}, ledger.voids
    for _, hole in ipairs(ledger.holes) do
      if hole.moment < after then holes[#holes + 1] = hole end
    end
    ledger.holes = holes
    local debts = {}
    for _, debt in ipairs(ledger.debts) do
      if debt.till <= (kept or after) then debts[#debts + 1] = debt end
    end
    for i = 1, #ledger.limits do
      local owed = cutLimit(ledger, now, i, kept or after)
      if owed > 0 then debts[#debts + 1] = { limit = i, till = 0, permits = owed } end
    end
    ledger.debts = debts
    changeEpoch(ledger, serverUs)
    while #voids > 1 and voids[1].from + NOTICE_PERIOD <= now do table.remove(voids, 1) end
    voids[#voids + 1] = { epoch = ledger.epoch, from = after }
    if #voids <= MOST_VOIDS then return end
    local oldest = table.remove(voids, 1)
    voids[1].from = math.min(voids[1].from, oldest.from)
  end
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
