-- @include "heads/common"
-- @include "ledger/reading"
-- @include "ledger/asked"
-- @include "ledger/algebras"
-- @include "ledger/rare"
-- @include "ledger/frontier"

-- How a ledger is stored in its key. A limiter with one unnamed limit has a small ledger: the head described
-- in lua/heads, followed by rare fields if there are any. Every other ledger is whole: all fields, one after
-- another.

local LEDGER_SAYS = 'ledger of version ' .. VERSION
local isSmall, packLedger, readLedger

do
  local WHOLE = '<BBdddI4Ic0Ic0'
  -- No limiter has this many limits: a bound for a damaged ledger.
  local MOST_LIMITS = 1024

  -- Whether the ledger has one unnamed limit, and its numbers fit into the head.
  function isSmall(ledger)
    local state = ledger.limits[1]
    return #ledger.limits == 1 and ledger.spec:sub(1, 6) == '[["","' and ledger.epoch < EPOCH_BOUND and ledger.kept < TIME_BOUND
      and algebraOf(state.kind).fits(state)
  end

  -- The text of a single unnamed limit, as in ARGV[1], behind the checksum of its numbers; then the text alone.
  local function checkedText(kind, permits, interval, extra)
    local text = string.format('%s%.0f,%.0f,%.0f]', kind, permits, interval, extra)
    -- @inline "heads/checksum"
    return struct.pack(CHECKSUM, checksum) .. text, text
  end

  -- The moment from which there are no contenders, reservations or pause, as far as is known now. The slow path bounds
  -- the frontiers that are ahead.
  local function calmFrom(ledger)
    if #ledger.holes > 0 or ledger.shift > 0 then return TIME_BOUND - 1 end
    local last = math.max(ledger.pausedUntil, ledger.soleUntil, ledger.crowdUntil, ledger.pacedUntil, math.ceil(frontierOf(ledger)))
    return math.min(last, TIME_BOUND - 1)
  end

  -- Whether no rare field of the ledger is set. Its limit may have some.
  local function isPlain(ledger, now, calm)
    return calm <= now and ledger.born == ledger.epoch and ledger.refundable == ledger.epoch and frontierOf(ledger) <= now
      and ledger.granted == 0 and ledger.freed == 0 and ledger.movedAt == 0 and ledger.lateAt == 0 and ledger.credit == 0
      and #ledger.voids == 0 and #ledger.debts == 0 and ledger.largestUntil <= now and ledger.farthestUntil <= now
  end

  function packLedger(ledger, now, small)
    if small then
      local state, calm = ledger.limits[1], calmFrom(ledger)
      local algebra = algebraOf(state.kind)
      local head = struct.pack(HEAD, state.kind:byte(), VERSION, ledger.epoch, calm, ledger.kept, ledger.seen, ledger.expires)
        .. algebra.packHead(state, ledger.checked or (checkedText(state.kind, algebra.numbers(state))))
      local rare, isRare = algebra.packRare(state, now)
      if not isPlain(ledger, now, calm) then return head .. rare .. packRare(ledger) end
      return isRare and head .. rare or head
    end
    local kinds, parts, slack = '', { '' }, math.max(0, ledger.kept - ledger.expires)
    for i = 1, #ledger.limits do
      local state = ledger.limits[i]
      kinds, parts[i + 1] = kinds .. state.kind, algebraOf(state.kind).encode(state)
    end
    parts[1] = struct.pack(WHOLE, WHOLE_KIND, VERSION, ledger.epoch, ledger.seen, ledger.expires, slack, #ledger.spec, ledger.spec,
      #kinds, kinds)
    parts[#parts + 1] = packRare(ledger)
    return table.concat(parts)
  end

  -- Checks the numbers of states, by which they grant, against the ledger's text. No name has quotation marks as they are here.
  local function checkNumbers(spec, states)
    local position = 1
    for i = 1, #states do
      local kind = states[i].kind
      local text = string.format('","%s",%.0f,%.0f,%.0f]', kind, algebraOf(kind).numbers(states[i]))
      local _, stop = spec:find(text, position, true)
      if not stop then error('limits that differ from their states', 0) end
      position = stop
    end
  end

  -- The limits in a ledger's text, checked against its states. Their numbers have been checked.
  local function heldLimits(spec, states)
    local whole, limits = pcall(cjson.decode, spec)
    if not whole or type(limits) ~= 'table' or #limits ~= #states then error('limits that differ from their states', 0) end
    for _, limit in ipairs(limits) do
      if type(limit) ~= 'table' or type(limit[1]) ~= 'string' then error('limits that differ from their states', 0) end
    end
    return limits
  end

  -- Reads a small ledger. `log` is the key of its log.
  local function unpackSmall(data, algebra, log)
    local letter, version, epoch, calm, kept, seen, expires, behind = struct.unpack(HEAD, data)
    local state, position = algebra.unpackHead(data, behind, seen, log)
    local expected, text = checkedText(state.kind, algebra.numbers(state))
    if data:sub(position, position + #expected - 1) ~= expected then error('limits that differ from their states', 0) end
    position = algebra.unpackRest(state, data, position + #expected)
    -- The checked text is written again as it was read, unless the limit changes: formatting takes longer than comparing.
    local ledger = {
      epoch = epoch, born = epoch, refundable = epoch, shift = 0, seen = seen, expires = expires, kept = kept,
      pausedUntil = 0, soleUntil = 0, crowdUntil = 0, frontiers = {}, pacedUntil = 0, granted = 0, returned = 0, freed = 0,
      movedAt = 0, lateAt = 0, credit = 0, largest = 0, largestUntil = 0, farthest = 0, farthestUntil = 0, sole = '',
      limits = { state },
      voids = {}, holes = {}, tickets = {}, debts = {}, spec = limitsIn(text), checked = expected,
    }
    if position <= #data then position = algebra.unpackRare(state, data, position) end
    if position <= #data then position = unpackRare(ledger, data, position) end
    return ledger, position
  end

  local function unpackWhole(data, key, spec, logs)
    local kind, version, epoch, seen, expires, slack, held, kinds, position = struct.unpack(WHOLE, data)
    if not inRange(math.min(epoch, seen, expires), epoch + seen + expires) then error('a number that is out of range', 0) end
    if #kinds > MOST_LIMITS or kinds:find('[^sft]') then error('a limit of an unknown kind', 0) end
    local ledger = { epoch = epoch, seen = seen, expires = expires, kept = expires + slack, spec = held, limits = {} }
    for i = 1, #kinds do
      ledger.limits[i], position = algebraOf(kinds:sub(i, i)).decode(data, position, logs[i])
    end
    checkNumbers(held, ledger.limits)
    position = unpackRare(ledger, data, position)
    if held ~= spec then
      -- The stored limits differ from the caller's or have another order, so they have other logs than the
      -- caller named.
      for i, limit in ipairs(heldLimits(held, ledger.limits)) do ledger.limits[i].log = key .. ':log:' .. limit[1] end
    elseif #ledger.limits ~= #logs then
      error('limits that differ from their states', 0)
    end
    return ledger, position
  end

  -- Reads a ledger, and raises an error if the data is not one. `spec` holds the caller's limits, `logs` the
  -- keys of their logs.
  local function unpackLedger(data, key, spec, logs)
    if data:byte(2) ~= VERSION then error('data of another version, or of another program', 0) end
    local kind, ledger, position = data:sub(1, 1), nil, nil
    if kind == 's' or kind == 'f' or kind == 't' then
      ledger, position = unpackSmall(data, algebraOf(kind), key .. ':log:')
    elseif data:byte(1) == WHOLE_KIND then
      ledger, position = unpackWhole(data, key, spec, logs)
    else
      error('data of another version', 0)
    end
    if position ~= #data + 1 then error('data of another length', 0) end
    return ledger
  end

  -- The stored ledger, or nil.
  function readLedger(key, spec, logs)
    local data = readString(LEDGER_SAYS, key)
    if not data then return nil end
    local whole, ledger = pcall(unpackLedger, data, key, spec, logs)
    if not whole then
      local reason = tostring(ledger)
      refuseKey(key, LEDGER_SAYS, reason:find("'unpack'", 1, true) and 'data of another length' or reason)
    end
    return ledger
  end
end
