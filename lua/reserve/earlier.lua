-- @include "reserve/serve"

-- Serves requests that have reservations, and ask for earlier ones. The twin of src/stores/memory/earlier.ts.

if earlier then
  -- These requests get earlier moments if the client refunds their reservations, and asks again.
  local MOVES_UP = -2

  -- Lets requests that have reservations take over refunded ones with earlier moments, or the permits that are free before
  -- these. All other permits before their moments are reserved. Clients that wait in order, or take turns, reserve nothing far ahead.
  function serve(run)
    local cost, remaining, load = run.cost, run.count, loadOf(ledger, run.cost)
    while remaining > 0 and not ordered and held < math.max(share, load) do
      local hole = holeFor and holeFor(ledger, math.max(now + 1, ledger.pausedUntil), math.huge, cost)
      if not hole then break end
      local granted, wait = 1, hole.moment * 1000 - instant.us
      if gaps < MOST_GAPS and takeGap(ledger, instant, cost, hole) then
        gaps, wait = gaps + 1, 0
      elseif wait > run.maxWait then
        break
      else
        granted = math.min(roomIn(hole, cost), remaining, math.max(1, math.ceil((share - held) / load)))
        fillHole(ledger, hole, cost, granted, now)
        if paced and strideOf(ledger, cost) == 0 then noteGranted(ledger, cost, granted) end
        held, after = held + load * granted, math.max(after, hole.moment)
      end
      answer(granted, wait)
      remaining = remaining - granted
    end
    if remaining == 0 then return end
    -- Its own reservations are charged until it refunds them. Beside others, that helps only if as many permits were refunded; and
    -- in a fixed window never, as no slot is unknown there.
    local movesUp = not (turns or barred) and (contenders == 1 or ledger.freed >= load) and ledger.pausedUntil <= now
      and not hasKind(ledger, 'f') and fitAll(ledger, now, now, cost, math.huge) + remaining > 0
    answer(remaining, movesUp and MOVES_UP or LEFT)
  end
end
