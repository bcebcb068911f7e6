-- Whether contenders take turns to share the permits that come back. The twin of src/stores/memory/turns.ts.

-- The most milliseconds between two calls of a client that takes turns.
local MOST_TURN = 1000

local takeTurns, nextTurn

do
  -- Clients take turns until so many milliseconds after reservations moved up, or after the last refund since then.
  local TURNS_PERIOD = 3000
  -- The most milliseconds between two calls for each contender, if permits are plentiful.
  local LEAST_TURN = 100

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
  function nextTurn(now, contenders, free)
    local longest = free < contenders and MOST_TURN or math.min(MOST_TURN, LEAST_TURN * contenders)
    -- Different for each moment, and for each call in it, so that no client always calls just after another one.
    return now + math.ceil(longest * (50 + math.fmod(now * 37 + free * 13, 50)) / 100)
  end
end
