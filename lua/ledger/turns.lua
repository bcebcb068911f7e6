-- Whether contenders take turns to share the permits that come back. The twin of src/stores/memory/turns.ts.

-- The most milliseconds between two calls of a client that takes turns.
local MOST_TURN = 1000

local takeTurns, nextTurn

do
  -- Clients take turns until so many milliseconds after reservations moved up, or after the last refund since then.
  local TURNS_PERIOD = 3000
  -- The most milliseconds between two calls for each contender, if permits are plentiful.
  local LEAST_TURN = 100
  -- The second half of that time is divided into so many parts, a prime number.
  local PARTS = 499
  -- Bytes of a client's name that count for the part.
  local MIXED_IN = 64

  -- Whether permits have been refunded to windows lately whose reservations were far ahead. Contenders then take
  -- turns: they reserve nothing beyond the notice period, and each call is granted its client's part of the permits
  -- that are free.
  function takeTurns(ledger, now)
    if ledger.movedAt == 0 or now >= ledger.movedAt + TURNS_PERIOD then return false end
    for _, state in ipairs(ledger.limits) do
      if state.kind ~= 't' then return true end
    end
    return false
  end

  -- When a client that takes turns with its contenders is to call again: `free` requests could be granted at its call.
  -- If they were not enough for all contenders, permits come back so slowly that more calls would find none.
  function nextTurn(now, contenders, free, client)
    local longest = free < contenders and MOST_TURN or math.min(MOST_TURN, LEAST_TURN * contenders)
    -- Different for each moment, call and client, so that no client always calls just after another one.
    local mixed = now * 37 + free * 13
    for i = math.max(1, #client - MIXED_IN + 1), #client do mixed = mixed + client:byte(i) end
    return now + math.ceil(longest * (1 + math.fmod(mixed, PARTS) / PARTS) / 2)
  end
end
