-- The levels of a bucket from now on, before reservations that are due later than their permits need. The twin of
-- src/limits/bucketLevel.ts, which explains it.

-- Reservations up to this moment count as taken already.
local function chargedTo(state, now)
  return math.max(now + 1, state.unsureUntil, state.sameSince - 1)
end

-- The permits held by later reservations.
local function heldAhead(state, now)
  local charged, held = chargedTo(state, now), 0
  for _, step in ipairs(state.steps) do
    if step.since > charged then held = held + step.held end
  end
  return held
end

local function refill(state, run, t)
  if t <= run.time then return end
  run.level = math.min(state.burst * state.interval, run.level + (t - run.time) * state.permits)
  run.time = t
end

-- Lets time pass until the end of a step, or until `to`.
local function pass(state, run, step, to, isCharged)
  refill(state, run, math.min(step.since, to))
  if not isCharged then run.level = run.level - step.held * state.interval end
  run.least = math.min(run.least, run.level)
  refill(state, run, math.min(step.stop, to))
  run.level = math.min(run.level, (state.burst - step.held) * state.interval)
end

-- The level at `to`, of a bucket with `level` units at `from`.
local function levelThen(state, from, level, to)
  local charged, run = chargedTo(state, from), { level = level, time = from, least = level }
  for i = #state.steps, 1, -1 do
    local step = state.steps[i]
    -- A grant that is made now is recorded at the next millisecond.
    if step.stop > from and step.since <= to + 1 then pass(state, run, step, to, step.since <= charged) end
  end
  refill(state, run, to)
  return run.level
end

-- The least level from `from` on until just before `before`, of a bucket with `level` units then.
local function leastAhead(state, now, from, level, before)
  local charged, run = math.max(from, chargedTo(state, now)), { level = level, time = from, least = level }
  for i = #state.steps, 1, -1 do
    local step = state.steps[i]
    if step.since > charged and step.since < before then pass(state, run, step, math.huge) end
  end
  return run.least
end

-- The first moment, `t` or later, at which `cost` units are free ahead of the reservations. math.huge if none is known.
local function freeBefore(state, now, level, t, cost)
  local charged, run = chargedTo(state, now), { level = level, time = now, least = level }
  for i = #state.steps, 1, -1 do
    local step = state.steps[i]
    if step.since > charged then
      local free = math.max(t, run.time + math.max(0, math.ceil((cost - run.level) / state.permits)))
      if free < step.since then
        refill(state, run, free)
        if leastAhead(state, now, free, run.level - cost, math.huge) >= 0 then return free end
      end
      pass(state, run, step, math.huge)
    end
  end
  return math.huge
end
