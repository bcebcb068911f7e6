-- @include "ledger/reading"
-- @include "ledger/epochs"
-- @include "ledger/holes"

-- The fields of a ledger that most ledgers do not need. They are stored after all others.

local packRare, unpackRare
-- The most tickets. A client without one is behind all of them.
local MOST_TICKETS = 64

do
  -- The rare fields: born, refundable, shift, pausedUntil, soleUntil, crowdUntil, pacedUntil,
  -- granted, returned, freed, movedAt, lateAt, credit, largest, largestUntil, farthest, farthestUntil, the numbers of
  -- voids, of holes and of tickets, and the name of the sole contender. Voids, holes and tickets follow, a frontier for each limit,
  -- and the debts.
  local RARE = '<ddddddddddddddddddddIc0'
  local TICKET = '<ddddIc0'

  function packRare(ledger)
    local parts = { struct.pack(RARE, ledger.born, ledger.refundable, ledger.shift, ledger.pausedUntil, ledger.soleUntil,
      ledger.crowdUntil, ledger.pacedUntil, ledger.granted, ledger.returned, ledger.freed, ledger.movedAt, ledger.lateAt,
      ledger.credit, ledger.largest, ledger.largestUntil, ledger.farthest, ledger.farthestUntil, #ledger.voids,
      #ledger.holes, #ledger.tickets, #ledger.sole, ledger.sole) }
    for _, void in ipairs(ledger.voids) do parts[#parts + 1] = struct.pack('<dd', void.epoch, void.from) end
    for _, hole in ipairs(ledger.holes) do
      parts[#parts + 1] = struct.pack('<dd', hole.moment, hole.count)
      for i = 1, #ledger.limits do parts[#parts + 1] = struct.pack('<d', hole.cost[i]) end
    end
    for _, ticket in ipairs(ledger.tickets) do
      parts[#parts + 1] = struct.pack(TICKET, ticket.due, ticket.till, ticket.stride, ticket.taken, #ticket.client, ticket.client)
    end
    for i = 1, #ledger.limits do parts[#parts + 1] = struct.pack('<d', ledger.frontiers[i] or 0) end
    for _, debt in ipairs(ledger.debts) do
      parts[#parts + 1] = struct.pack('<dddd', debt.limit, debt.till, debt.permits, debt.tail)
    end
    return table.concat(parts)
  end

  -- Reads `count` numbers. Returns them and the position after them.
  local function unpackNumbers(data, position, count)
    local numbers = { struct.unpack('<' .. string.rep('d', count), data, position) }
    for i = 1, count do
      if not inRange(numbers[i], numbers[i]) then error('a number that is out of range', 0) end
    end
    return numbers, table.remove(numbers)
  end

  -- Reads the voids and holes of a ledger with these limits.
  local function unpackChanges(data, position, voidCount, holeCount, limits)
    if voidCount > MOST_VOIDS or holeCount > MOST_HOLES then error('a number that is out of range', 0) end
    local voids, holes, numbers = {}, {}, nil
    for i = 1, voidCount do
      numbers, position = unpackNumbers(data, position, 2)
      voids[i] = { epoch = numbers[1], from = numbers[2] }
    end
    for i = 1, holeCount do
      local hole = { cost = {} }
      numbers, position = unpackNumbers(data, position, 2)
      hole.moment, hole.count = numbers[1], numbers[2]
      for limit = 1, #limits do
        numbers, position = unpackNumbers(data, position, 1)
        hole.cost[limit] = numbers[1]
      end
      holes[i] = hole
    end
    return voids, holes, position
  end

  -- Reads the tickets of a ledger.
  local function unpackTickets(data, position, count)
    if count > MOST_TICKETS then error('a number that is out of range', 0) end
    local tickets = {}
    for i = 1, count do
      local due, till, stride, taken, client
      due, till, stride, taken, client, position = struct.unpack(TICKET, data, position)
      local sum = due + till + math.abs(stride) + taken
      if not inRange(math.min(due, till, taken), sum) then error('a number that is out of range', 0) end
      tickets[i] = { client = client, due = due, till = till, stride = stride, taken = taken }
    end
    return tickets, position
  end

  -- Reads the debts of a ledger with so many limits, which end its data.
  local function unpackDebts(data, position, limits)
    local debts, numbers = {}, nil
    for i = 1, math.min((#data + 1 - position) / 32, MOST_DEBTS * limits) do
      numbers, position = unpackNumbers(data, position, 4)
      if numbers[1] < 1 or numbers[1] > limits or numbers[1] % 1 > 0 then error('a number that is out of range', 0) end
      debts[i] = { limit = numbers[1], till = numbers[2], permits = numbers[3], tail = numbers[4] }
    end
    return debts, position
  end

  -- Reads the rare fields of a ledger into it. Returns the position after them.
  function unpackRare(ledger, data, position)
    local voidCount, holeCount, ticketCount
    ledger.born, ledger.refundable, ledger.shift, ledger.pausedUntil, ledger.soleUntil, ledger.crowdUntil,
      ledger.pacedUntil, ledger.granted, ledger.returned, ledger.freed, ledger.movedAt, ledger.lateAt, ledger.credit,
      ledger.largest, ledger.largestUntil, ledger.farthest, ledger.farthestUntil, voidCount, holeCount, ticketCount,
      ledger.sole, position = struct.unpack(RARE, data, position)
    local least = math.min(ledger.born, ledger.refundable, ledger.shift, ledger.pausedUntil, ledger.soleUntil, ledger.crowdUntil,
      ledger.pacedUntil, ledger.granted, ledger.returned, ledger.freed, ledger.movedAt, ledger.lateAt, ledger.credit,
      ledger.largest, ledger.largestUntil, ledger.farthest, ledger.farthestUntil, voidCount, holeCount, ticketCount)
    local sum = ledger.born + ledger.refundable + ledger.shift + ledger.pausedUntil + ledger.soleUntil + ledger.crowdUntil
      + ledger.pacedUntil + ledger.granted + ledger.returned + ledger.freed + ledger.movedAt + ledger.lateAt
      + ledger.credit + ledger.largest + ledger.largestUntil + ledger.farthest + ledger.farthestUntil
      + voidCount + holeCount + ticketCount
    if not inRange(least, sum) then error('a number that is out of range', 0) end
    ledger.voids, ledger.holes, position = unpackChanges(data, position, voidCount, holeCount, ledger.limits)
    ledger.tickets, position = unpackTickets(data, position, ticketCount)
    ledger.frontiers, position = unpackNumbers(data, position, #ledger.limits)
    ledger.debts, position = unpackDebts(data, position, #ledger.limits)
    return position
  end
end
