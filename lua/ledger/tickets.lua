-- @include "ledger/order"

-- The order of the clients that wait for rare permits. Such a client reserves nothing far ahead: it calls again
-- when its turn comes. So permits that are refunded meanwhile are free for any client that calls. The twin of
-- src/stores/memory/tickets.ts.
--
-- A ticket: the client; `due`, its turn as it was computed when the client joined, or when it is likely to call again; `till`,
-- when it is forgotten unless the client calls again; `stride`, by which it delays the clients behind it, the load of its next
-- request, or 0 if none waits, or the negative load of its last one if it is likely to call again; and `taken`, what it has taken
-- in its turns. All in milliseconds.

local turnOf

do
  -- For how long after its turn a client can be overtaken: milliseconds. Of several limits, for so many times as long as the
  -- others then leave free permits to it.
  local MOST_DELAY = 1000
  local DELAYS_OF_SEVERAL = 3
  -- The others then leave free permits to the first client, whose request may need more, for as long as its permits take at the
  -- full rate: of one limit, at least so many milliseconds; of several, at most, as the others may wait for another one.
  local LEAST_HOLD = 1000
  local MOST_OF_SEVERAL = 4000

  -- The milliseconds by which the waiting clients in front delay a client, if no permits are refunded; the same of all
  -- clients in front, without what they are likely to refund: those that were granted call again; whether no client waits
  -- in front, or none that this one must let pass; and whether the first one has been overtaken for so long that this one
  -- must not be granted anything. Forgets the clients that have not called again. Clients that take turns are not barred, nor
  -- are others unless permits are rare, as a first client that has crashed would stop them all, or unless there are several
  -- limits, for a moment: of these, clients that are ahead leave nothing to a larger request.
  function turnOf(ledger, client, now, mayBar)
    local tickets, delay, expected, own, first = {}, 0, 0, nil, nil
    local isPaced = callAtPace(ledger)
    for _, ticket in ipairs(ledger.tickets) do
      if ticket.till > now then
        first = first or (ticket.stride > 0 and ticket)
        own = own or (ticket.client == client and ticket)
        if not own then
          delay = delay + math.max(0, ticket.stride)
          local load = keptLoad(ledger, math.abs(ticket.stride), isPaced)
          -- One that has not called again, as it was likely to, may have no more requests.
          if ticket.stride > 0 or now < ticket.due + load or not isPaced then expected = expected + load end
        end
        tickets[#tickets + 1] = ticket
      end
    end
    ledger.tickets = tickets
    -- Its request does not fit yet. It may be overtaken again, so that free permits are in use.
    local areSeveral, overtaken = #ledger.limits > 1, math.huge
    if first then
      local hold = areSeveral and math.min(MOST_OF_SEVERAL, first.stride) or math.max(LEAST_HOLD, first.stride)
      local most = areSeveral and hold * DELAYS_OF_SEVERAL or MOST_DELAY
      -- In whole periods: whoever looks, and whenever, finds the same.
      local periods = math.floor((now - first.due) / (most + hold))
      if periods > 0 then first.due = first.due + periods * (most + hold) end
      overtaken = first.due + most
    end
    -- A waiting client whose turn has passed counts as the first, unless its turn came when the first had been overtaken.
    local isFirst = delay == 0 or own and own.stride > 0 and own.due <= now and own.due < overtaken
    return delay, expected, isFirst, mayBar and not isFirst and overtaken <= now and (areSeveral or areRare(ledger))
  end
end
