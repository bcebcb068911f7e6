-- @include "reserve/serve"

-- Serves requests that have reservations, and ask for earlier ones. The twin of src/stores/memory/earlier.ts.

if earlier then
  -- These requests get earlier moments if the client refunds their reservations, and asks again.
  local MOVES_UP = -2
  -- Before a moment that is so many milliseconds ahead, each client calls once more.
  local LAST_BEAT = 1600

  -- Lets requests that have reservations take over refunded ones with earlier moments, or the permits that are free before
  -- these. All other permits before their moments are reserved. Clients that wait in order, or take turns, reserve nothing far
  -- ahead.
  function serve(run)
    local cost, remaining, load = run.cost, run.count, loadOf(ledger, run.cost)
    while remaining > 0 and not ordered and held < math.max(share, load) do
      local hole = holeFor and holeFor(ledger, math.max(now + 1, ledger.pausedUntil), math.huge, cost)
      if not hole then break end
      local granted, wait = 1, math.min(hole.moment * 1000 - instant.us, MOST_WAIT)
      if gaps < MOST_GAPS and takeGap(ledger, instant, cost, hole) then
        gaps, wait = gaps + 1, 0
      elseif wait > run.maxWait then
        break
      else
        granted = math.min(roomIn(hole, cost), remaining, math.max(1, math.ceil((share - held) / load)))
        fillHole(ledger, hole, cost, granted, now)
        if paced and select(2, stridesOf(ledger, cost)) == 0 then noteGranted(ledger, cost, granted) end
        held, after = held + load * granted, math.max(after, hole.moment)
      end
      answer(granted, wait)
      remaining = remaining - granted
    end
    if remaining == 0 then return end
    local movesUp = false
    if not (turns or barred) and ledger.pausedUntil <= now then
      -- Holes that are too small for the request come back to a bucket if no reservation follows them, but are lost before one
      -- that waits for a full bucket.
      local hole = ledger.holes[1]
      movesUp = hole and hole.moment < now + math.min(run.maxWait / 1000, LAST_BEAT) and not hasWindow(ledger)
        and last >= newestOf(ledger, cost, false) and not holeFor(ledger, now, math.huge, cost)
        -- Beside others, that helps only if as many permits were refunded; and in a fixed window never, as no slot is unknown
        -- there.
        or (contenders == 1 or ledger.freed >= load) and not hasKind(ledger, 'f')
          and fitAll(ledger, now, now, cost, math.huge) + remaining > 0
    end
    answer(remaining, movesUp and MOVES_UP or LEFT)
  end
end
