-- What a bucket remembers of its grants, for refunds. The twin of src/limits/bucketHistory.ts, which explains it.

local function bucketHistory()
  local function endLast(state)
    state.lastAt, state.lastCount = -1, 0
  end

  local function hold(state, t, n)
    if t >= state.since1 then
      state.held1 = math.max(0, state.held1 + n)
    elseif t >= state.since0 then
      state.held0 = math.max(0, state.held0 + n)
    end
  end

  -- Starts another step with the last grants, if the present step holds more than half a burst and all
  -- earlier grants are due.
  local function beginStep(state, now)
    if now < state.since1 or state.lastAfter < state.since1 or state.held1 * 2 <= state.burst then return end
    local held = state.tail > state.lastAfter and state.lastCount or 0
    state.since0, state.since1 = state.since1, state.lastAfter + 1
    state.held0, state.held1 = state.held1 - held, held
  end

  -- Records a grant of `n` permits at `t`, which is charged at `moment`, perhaps a millisecond earlier.
  local function join(state, now, moment, t, n)
    if moment == state.lastAt then
      state.lastCount = state.lastCount + n
    else
      beginStep(state, now)
      state.lastAt, state.lastAfter, state.lastCount = moment, state.tail, n
    end
    hold(state, t, n)
    state.tail = math.max(state.tail, t)
  end

  -- Milliseconds of refill since a moment; negative if the moment is ahead. Refill at an earlier rate is not
  -- counted, as its amount is not known.
  local function ranSince(state, now, moment)
    if moment > now then return now - moment end
    return math.max(0, now - math.max(moment, state.sameSince))
  end

  -- A lower bound, in units, of the room in the bucket just before each grant that followed `n` permits
  -- granted at `t`. `taken` is what is taken now.
  local function roomAfter(state, now, t, n, taken)
    if t > state.lastAfter then return math.huge end
    if t < state.since0 then return 0 end
    local later, room = state.held1, math.huge
    if t >= state.since1 then later = later - n end
    if later > 0 then room = taken + ranSince(state, now, state.tail) * state.permits - later * state.interval end
    if t >= state.since1 or state.held0 <= n then return room end
    local ran = ranSince(state, now, math.min(state.tail, state.since1 - 1))
    return math.min(room, taken + ran * state.permits - (state.held0 - n + state.held1) * state.interval)
  end

  -- No moment is later than `tail` any more. Later grants come after all grants made until now.
  local function shorten(state, tail)
    state.tail = tail
    state.lastAfter = math.min(state.lastAfter, tail)
    if state.since1 > tail + 1 then state.since1, state.held1 = tail + 1, 0 end
    if state.since0 > tail + 1 then state.since0, state.held0 = tail + 1, 0 end
    state.sameSince = math.min(state.sameSince, tail + 1)
  end

  -- Removes `n` permits granted at `t`.
  local function leave(state, t, n)
    hold(state, t, -n)
    if t <= state.lastAfter then return end
    state.lastCount = state.lastCount - n
    -- The last grants are all refunded, so the ones before them are now the newest.
    if state.lastCount > 0 then return end
    endLast(state)
    shorten(state, state.lastAfter)
  end

  return endLast, join, roomAfter, shorten, leave
end
