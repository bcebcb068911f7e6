-- The history of a bucket's grants, for refunds and for grants ahead of reservations. The twin of src/limits/bucketHistory.ts
-- and bucketRoom.ts; bucketSteps.ts explains it.

-- @include "heads/token-bucket"

local MOST_AHEAD = 64

local function bucketHistory()
  -- If there are more steps of past grants than MOST_PAST, this number is kept, so that most calls need not remove any.
  local KEPT_PAST = 20

  -- An upper bound of the newest moment granted or reserved; -1 for none.
  local function newestIn(state)
    return state.steps[1] and state.steps[1].stop or -1
  end

  -- The permits held by a step and the one after it.
  local function heldBy(steps, i)
    return steps[i].held + steps[i - 1].held
  end

  -- Merges a step with the one after it.
  local function merge(steps, i)
    local after = table.remove(steps, i - 1)
    local step = steps[i - 1]
    step.stop, step.held = after.stop, step.held + after.held
  end

  -- A lower bound of the refill before the last change of the rate, since a moment, in present units.
  local function formerRefill(state, moment)
    local units = math.max(0, state.formerUntil - math.max(moment, state.formerSince)) * state.formerPermits
    if state.formerInterval == state.interval then return units end
    -- One unit less, as the permits taken were rounded up at the change; and less what the quotient may be rounded up.
    return math.max(0, math.floor(units / state.formerInterval * state.interval * (1 - 2 ^ -50)) - 1)
  end

  -- Units of refill since a moment; negative if the moment is ahead.
  local function refillSince(state, now, moment)
    if moment > now then return (now - moment) * state.permits end
    local present = math.max(0, now - math.max(moment, state.sameSince)) * state.permits
    return state.formerUntil and present + formerRefill(state, moment) or present
  end

  -- A lower bound, in units, of the room in the bucket just before each grant that followed `n` permits
  -- granted at `t`. `taken` are the units taken now: by all grants, or by those that begin up to `last`.
  local function roomAfter(state, now, t, n, taken, last)
    local later, room = 0, math.huge
    for i, step in ipairs(state.steps) do
      if not last or step.since <= last then
        if t > step.stop then return room end
        if t >= step.since and i == 1 and state.lastAt >= CLOSED then return room end
        local others = t >= step.since and step.held - n or step.held
        later = later + others
        if others > 0 then
          -- A reservation is made for a whole millisecond, so the level before it may exceed the capacity.
          local brim = step.stop > now and state.permits - 1 or 0
          room = math.min(room, taken + refillSince(state, now, step.stop) - later * state.interval + brim)
        end
        if t >= step.since then return room end
      end
    end
    return 0
  end

  -- Makes one step of all that follow a grant for `t` among the reservations that were charged when the rate changed, before this
  -- grant: so it counts as later than each of them.
  local function joinCharged(state, now, t)
    local steps = state.steps
    while steps[2] and steps[2].stop >= t do merge(steps, 2) end
    steps[1].since = math.min(steps[1].since, t)
    -- A reservation among them was not charged then.
    if t > now + 1 then state.unsureUntil = steps[1].stop end
  end

  -- Keeps the number of steps within its bounds. The newest step stays as it is. The next ones are merged first: many of
  -- their permits come back before it matters how exact a step is, which is when it leaves hardly any room in the bucket.
  local function limitSteps(state, now)
    local steps, burst, ahead = state.steps, state.burst, 0
    while steps[ahead + 1] and steps[ahead + 1].stop > now do ahead = ahead + 1 end
    if ahead > MOST_AHEAD then
      local place = 3
      for i = 4, ahead do
        if heldBy(steps, i) < heldBy(steps, place) then place = i end
      end
      merge(steps, place)
      return
    end
    if #steps - ahead <= MOST_PAST then return end
    -- Of grants before the bucket was full, no refund restores anything.
    local taken = burst * state.interval - state.units
    while #steps > ahead and roomAfter(state, now, steps[#steps].since, steps[#steps].held, taken) <= 0 do
      table.remove(steps)
    end
    -- Steps of a quarter or half of the bucket, if that is not enough: they restore less than small ones, but more than none.
    local part = MERGED_PART
    while part > 1 do
      local place = math.max(3, ahead + 2)
      while #steps - ahead > KEPT_PAST and place <= #steps do
        if heldBy(steps, place) * part <= burst then
          merge(steps, place)
        else
          place = place + 1
        end
      end
      part = part / 2
    end
    while #steps - ahead > KEPT_PAST do table.remove(steps) end
  end

  -- Records a grant of `n` permits at `t` that is never refunded, if the history has no other grants. Returns whether it did.
  local function keep(state, t, n)
    local step = state.steps[1]
    if not step then
      state.steps[1], state.lastAt = { since = t, stop = t, held = n }, ONLY_KEPT
      return true
    end
    if state.lastAt ~= ONLY_KEPT or t < step.since then return false end
    step.stop, step.held = math.max(step.stop, t), step.held + n
    return true
  end

  -- Records a grant of `n` permits at `t`, which is charged at `moment`, perhaps a millisecond earlier.
  local function join(state, now, moment, t, n)
    local steps, newest = state.steps, newestIn(state)
    if t > newest and moment ~= state.lastAt then
      table.insert(steps, 1, { since = t, stop = t, held = n })
      state.lastAt = moment
      if #steps > 2 then
        -- Steps that are ahead are as much smaller.
        local part = steps[2].stop > now and MERGED_PART ^ 3 or MERGED_PART
        if heldBy(steps, 3) * part <= state.burst then merge(steps, 3) end
      end
      return limitSteps(state, now)
    end
    local place = 1
    if t < state.sameSince then joinCharged(state, now, t) end
    if t <= newest then
      while steps[place] and steps[place].since > t do place = place + 1 end
    end
    local step = steps[place]
    if step and (place == 1 or t <= step.stop) then
      step.stop, step.held = math.max(step.stop, t), step.held + n
      if place == 1 and moment ~= state.lastAt then state.lastAt = MIXED end
      return
    end
    table.insert(steps, place, { since = t, stop = t, held = n })
    limitSteps(state, now)
  end

  -- An upper bound of the permits held for moments after `t`.
  local function heldAfter(state, t)
    local held = 0
    for _, step in ipairs(state.steps) do
      if step.stop > t then held = held + step.held end
    end
    return held
  end

  -- Removes `n` permits granted at `t`.
  local function leave(state, t, n)
    for i, step in ipairs(state.steps) do
      if step.since <= t and t <= step.stop then
        step.held = step.held - n
        if step.held > 0 then return end
        table.remove(state.steps, i)
        if i == 1 then state.lastAt = MIXED end
        return
      end
    end
  end

  -- Removes the reservations later than `stop`, which are void.
  local function cutHistory(state, stop)
    local steps = state.steps
    while steps[1] and steps[1].since > stop do
      table.remove(steps, 1)
      state.lastAt = MIXED
    end
    if newestIn(state) <= stop then return end
    steps[1].stop, state.unsureUntil, state.lastAt = stop, stop, MIXED
  end

  -- Another rate comes into force. Reservations keep their moments, although the permits of all of them are charged now.
  local function changeRate(state, now)
    -- Some were charged at an earlier change.
    if state.sameSince > now then state.unsureUntil = math.max(state.unsureUntil, state.sameSince - 1) end
    local permits, since = state.permits, state.sameSince
    if state.formerUntil and state.formerInterval == state.interval then
      local slower = math.min(state.formerPermits, permits)
      if (now - state.formerSince) * slower > (now - since) * permits then
        permits, since = slower, state.formerSince
      end
    end
    state.formerPermits, state.formerInterval, state.formerSince, state.formerUntil = permits, state.interval, since, now
    state.sameSince, state.lastAt = math.max(newestIn(state) + 1, now), MIXED
  end

  -- Forgets the grants of a full bucket: no refund of them can restore anything.
  local function forget(state)
    state.steps, state.lastAt = {}, MIXED
  end

  return newestIn, keep, join, roomAfter, heldAfter, leave, cutHistory, changeRate, forget
end
