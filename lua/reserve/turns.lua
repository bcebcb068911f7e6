-- @include "reserve/opened"

-- How contenders take turns to share the permits that come back. The twin of src/stores/memory/turns.ts.

-- The most milliseconds between two calls of a client that takes turns.
local MOST_TURN = 1250

local reservesNothing, grantedInTurn, nextTurn

if turns then
  -- The most milliseconds between two calls for each contender in a long interval.
  local LONG_TURN = 250
  -- In a short interval, each contender calls in the time that the kept parts of so many of its requests take: more if
  -- nothing was free, as most of its calls are in vain then.
  local REQUESTS_EACH = 1.5
  local REQUESTS_LEFT = 2.25
  -- There, a client may be ahead of another one by so many of the other's requests, if these are no larger than its own:
  -- otherwise permits for which the other one has not called yet stay unused.
  local LEAD = 5
  -- The second half of that time is divided into so many parts, a prime number.
  local PARTS = 499

  -- Whether clients that take turns reserve nothing at all, if many permits are refunded. A permit of a sliding window
  -- cannot be granted again before a reservation that needs it.
  function reservesNothing()
    local slides = false
    for _, state in ipairs(ledger.limits) do slides = slides or state.kind == 's' end
    return slides and isShort(ledger) and areReturned(ledger)
  end

  -- What the others may take until each has as much as this client, once it has taken `after`, with a request of `load`.
  local function keptForOthers(after, load)
    local kept, others, most = 0, contenders - 1, isShort(ledger) and LEAD or 1
    for _, ticket in ipairs(ledger.tickets) do
      if ticket.client ~= client then
        others = others - 1
        local behind = after - ticket.taken
        local larger = ticket.stride > load
        if ticket.stride > 0 and behind >= ticket.stride * (larger and 1 or most) then kept = kept + behind end
      end
    end
    -- Those that have not called yet have taken as much as the one that has taken least.
    return kept + (after - least) * math.max(0, others)
  end

  -- How many requests of `load` milliseconds a client may be granted of so many that are `free`: as long as enough is left
  -- for each waiting client that has taken less to take as much. A client may be ahead of another one by its own last
  -- requests, and by less than the other's next one: permits for a larger request are saved up once the others have taken
  -- as much.
  function grantedInTurn(free, load)
    local granted, beyond = 0, math.max(1, free) + 1
    -- As many steps as a number has bits.
    for _ = 1, 64 do
      if granted >= beyond - 1 then break end
      local middle = math.floor((granted + beyond) / 2)
      local kept = keptForOthers(taken + (middle - 1) * load, load)
      if kept == 0 or (free - middle) * load >= kept then granted = middle else beyond = middle end
    end
    return granted
  end

  -- When a client that takes turns with its contenders is to call again: `free` requests could be granted at its call, and
  -- the next one of `load` milliseconds at `t` if no permits come back. In a short interval, all contenders call in
  -- the time that the kept parts of their requests take, and in a long one at any pace. The more are free, the sooner, as no
  -- more can be granted until then. The longer no permits have come back, the later others are likely to.
  function nextTurn(t, free, load)
    local each = isShort(ledger) and (free > 0 and REQUESTS_EACH or REQUESTS_LEFT) * keptLoad(ledger, load) or LONG_TURN
    -- At least a millisecond for each.
    local most = contenders * math.max(1, contenders * each / math.max(contenders, free))
    local longest = math.min(MOST_TURN, math.min(t - now, now - ledger.movedAt) + most)
    -- Different for each moment and call, so that clients do not call together for ever.
    local mixed = (now * 37 + free * 13) % PARTS
    return now + math.ceil(longest * (1 + mixed / PARTS) / 2)
  end
end
