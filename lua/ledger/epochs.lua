-- @include "ledger/algebras"
-- @include "ledger/newest"

-- Which reservations are valid, by the epoch in which they were made. The twin of
-- src/stores/memory/epochs.ts.

-- Every client with waiting requests calls again within this many milliseconds, so reservations further ahead
-- can be voided.
local NOTICE_PERIOD = 2000
-- The most changes that are kept. If there are more, the two oldest are merged.
local MOST_VOIDS = 8

-- The most debts of one limit that are remembered apart. The last two of more are merged.
local MOST_DEBTS = 32

local function changeEpoch(ledger, serverUs)
  ledger.epoch = math.max(ledger.epoch + 1, serverUs)
end

-- Functions of debts, in one local variable: a script may have 200.
local ofDebts = {}
local voidReservations

do
  -- A debt and the next one as one.
  function ofDebts.joined(one, following)
    local till = math.max(one.till, following.till)
    local tail = (one.till == till and one.tail or 0) + (following.till == till and following.tail or 0)
    return { limit = one.limit, till = till, permits = one.permits + following.permits, tail = tail }
  end

  -- The last moment before the slot of a moment, or before the moment: what is later is forgotten with it.
  function ofDebts.slotStart(state, t)
    if not state.coarsest then return t - 1 end
    return math.ceil(t / state.resolution) * state.resolution - state.coarsest
  end

  -- Forgets the reservations of a limit later than `after`. Returns its debts, of which those that were charged there are to be
  -- charged again.
  local function cutLimit(ledger, now, limit, after)
    local state, debts, owed, room = ledger.limits[limit], {}, 0, {}
    local cut = algebraOf(state.kind).cut
    for _, debt in ipairs(ledger.debts) do
      if debt.limit == limit then debts[#debts + 1] = debt end
    end
    for _ = 1, #debts do
      local debt = debts[#debts]
      if debt.till <= after or room.entries == 0 then break end
      debts[#debts] = nil
      local before = math.max(after, debts[1] and debts[#debts].till or 0)
      -- A debt takes all permits up to its last moment: those later than that are of reservations, and perhaps some of that moment.
      local start = debt.tail > 0 and ofDebts.slotStart(state, debt.till) or debt.till
      local back = math.min(debt.tail, cut(state, now, math.max(before, start), room))
      back = back + math.min(debt.permits - back, cut(state, now, before, room))
      owed = owed + back
      local left = debt.permits - back
      -- Those that are not forgotten yet are in the slot of the debt before, or stay charged.
      if left > 0 and before > after and room.entries ~= 0 then
        debts[#debts] = ofDebts.joined(debts[#debts], { limit = limit, till = before, permits = left, tail = left })
      elseif left > 0 then
        debts[#debts + 1] = { limit = limit, till = room.entries ~= 0 and before or debt.till, permits = left, tail = 0 }
      end
    end
    if room.entries ~= 0 then cut(state, now, after, room) end
    if owed > 0 then debts[#debts + 1] = { limit = limit, till = 0, permits = owed, tail = 0 } end
    return debts
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
    for limit = 1, #ledger.limits do
      for _, debt in ipairs(cutLimit(ledger, now, limit, kept or after)) do debts[#debts + 1] = debt end
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
