-- @include "reserve/opened"

-- How contenders take turns to share the permits that come back. The twin of src/stores/memory/turns.ts.

-- The most milliseconds between two calls of a client that takes turns.
local MOST_TURN = 1250

local reservesNothing, mostClaim, grantedInTurn, nextTurn

if ordered then
  -- In a short interval, a client may be ahead of another one by so many of the other's requests, if these are no larger than
  -- its own: otherwise permits for which the other one has not called yet stay unused. But by no more than take so many
  -- milliseconds for all clients, and by one in any case: one of them could wait for as long, again and again.
  local LEAD = 5
  local LEAD_PERIOD = 3000
  -- The same for slow requests of a sliding window, of which a client that is ahead keeps others waiting for long.
  local SLOW_LEAD = 3

  -- A client whose request stays queued has a claim to so many of it, in order, or if it is a slow one of a single permit, which
  -- fits whenever a permit of the only limit, a fixed window, is free.
  local MOST_CLAIM = 6

  -- Whether a slow request is for a single permit of the only limit, a fixed window.
  local function fitsAlways(load)
    local state = ledger.limits[1]
    local isLeast = #ledger.limits == 1 and state.kind == 'f' and load <= state.interval / state.permits
    return isLeast and isSlow(ledger, load)
  end

  -- By how many requests of a load a client may be ahead of another one.
  local function leadOf(load)
    if fitsAlways(load) then return LEAD end
    if not isShort(ledger) then return 1 end
    local most = isSlow(ledger, load) and hasKind(ledger, 's') and SLOW_LEAD or LEAD
    return math.max(1, math.min(most, math.floor(LEAD_PERIOD / (load * contenders))))
  end

  -- To how many of its requests a client has a claim, of which so many stay queued.
  function mostClaim(load, count)
    if inOrder or fitsAlways(load) then return MOST_CLAIM end
    local own = math.max(1, leadOf(load) - 1)
    return isSlow(ledger, load) and own or math.min(count, own)
  end

  if turns then
    -- A call comes each time in which the kept permits of this part of the interval are granted: but of no less than one request
    -- of the client, of no more than its first ones of equal costs, and after so many milliseconds at most. In a long interval, it
    -- comes after so many unless `MANY_FREE` calls like it could be granted all: what comes back is little beside the full rate.
    local PAUSE_PART = 0.01
    local MOST_PAUSE = 250
    -- That time is so many times as long after a call for which nothing was free, as most calls are in vain then: not for slow
    -- requests, between whose calls many permits would come back unused, nor if so few faster ones fit into a short interval that
    -- each counts.
    local IN_VAIN = 3
    local FEW_IN_VAIN = 32
    -- That time is half as long if so many calls like this one could be granted all that they ask for: if each is for one
    -- request, or no client reserves permits in front of its next call.
    local MANY_FREE = 2

    -- Whether clients that take turns reserve nothing at all, if many permits are refunded. A permit of a sliding window
    -- cannot be granted again before a reservation that needs it.
    function reservesNothing()
      return areReturned(ledger) and hasKind(ledger, 's')
    end

    -- What the others may take until each has as much as this client, once it has taken `after`, with a request of `load`; `most`
    -- is the lead.
    local function keptForOthers(after, load, most)
      local kept, others = 0, contenders - 1
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
      local granted, beyond, most = 0, math.max(1, free) + 1, leadOf(load)
      -- As many steps as a number has bits.
      for _ = 1, 64 do
        if granted >= beyond - 1 then break end
        local middle = math.floor((granted + beyond) / 2)
        local kept = keptForOthers(taken + (middle - 1) * load, load, most)
        if kept == 0 or (free - middle) * load >= kept then granted = middle else beyond = middle end
      end
      return granted
    end

    -- When permits last came back, or a fixed window started: those that it grants then may come back soon.
    local function awaitedSince()
      local since = ledger.movedAt
      for _, state in ipairs(ledger.limits) do
        if state.kind == 'f' and state.start <= now then since = math.max(since, state.start) end
      end
      return since
    end

    -- When a client that takes turns is to call again: the first moment after those of the others that leaves them all equally
    -- long pauses, so that no permit is free for long, and few calls come when none is. The next request of `load` milliseconds
    -- could be granted at `t` if no permits come back. The longer none have, the later others are likely to: but not later than
    -- `t`.
    function nextTurn(t, load)
      local turn, asked = now, runs[1].count
      local most = math.max(load, shortestInterval(ledger) * PAUSE_PART)
      local pause = math.min(MOST_PAUSE, keptLoad(ledger, math.min(asked * load, most)))
      if not isShort(ledger) and free < MANY_FREE * asked then pause = MOST_PAUSE end
      if free == 0 then
        pause = pause * (isSlow(ledger, load, shortestInterval(ledger) / FEW_IN_VAIN) and 1 or IN_VAIN)
      elseif free >= MANY_FREE * asked and (asked == 1 or reservesNothing()) then
        pause = pause / 2
      end
      for _, ticket in ipairs(ledger.tickets) do turn = math.max(turn, ticket.due) end
      -- Turns that clients had before they called again leave gaps: the line is no longer than all contenders take.
      turn = math.max(now + 1, pause + math.min(turn, now + (contenders - 1) * pause))
      return math.min(now + MOST_TURN, turn + now - awaitedSince(), math.max(turn, t))
    end
  end
end
