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

-- A run from `from` on, of a bucket with `level` units then.
local function runFrom(state, from, level, charged)
  local early = 0
  for _, step in ipairs(state.steps) do
    if step.stop > from and step.since <= charged then early = early + step.held end
  end
  return { level = level, time = from, least = level, early = early }
end

local function refill(state, run, t)
  if t <= run.time then return end
  run.level = math.min((state.burst - run.early) * state.interval, run.level + (t - run.time) * state.permits)
  run.time = t
end

-- Lets time pass until the end of a step, or until `to`.
local function pass(state, run, step, to, isCharged)
  refill(state, run, math.min(step.since, to))
  if not isCharged then run.level = run.level - step.held * state.interval end
  run.least = math.min(run.least, run.level)
  refill(state, run, math.min(step.stop, to))
  run.level = math.min(run.level, (state.burst - step.held) * state.interval)
  if isCharged and step.stop <= to then run.early = run.early - step.held end
end

-- The level at `to`, of a bucket with `level` units at `from`.
local function levelThen(state, from, level, to)
  local charged = chargedTo(state, from)
  local run = runFrom(state, from, level, charged)
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
  local charged = math.max(from, chargedTo(state, now))
  local run = runFrom(state, from, level, charged)
  for i = #state.steps, 1, -1 do
    local step = state.steps[i]
    if step.stop > from and step.since < before then pass(state, run, step, math.huge, step.since <= charged) end
  end
  return run.least
end

-- The first moment, `t` or later, at which `cost` units are free ahead of the reservations. math.huge if none is known.
local function freeBefore(state, now, level, t, cost)
  local charged = chargedTo(state, now)
  local run = runFrom(state, now, level, charged)
  for i = #state.steps, 1, -1 do
    local step = state.steps[i]
    if step.stop > now then
      local isCharged = step.since <= charged
      local free = math.max(t, run.time + math.max(0, math.ceil((cost - run.level) / state.permits)))
      if free < (isCharged and step.stop or step.since) then
        refill(state, run, free)
        -- Negative, too, if there is no room for the refill.
        if leastAhead(state, now, free, run.level - cost, math.huge) >= 0 then return free end
      end
      pass(state, run, step, math.huge, isCharged)
    end
  end
  return math.huge
end
