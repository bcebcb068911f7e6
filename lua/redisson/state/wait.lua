-- The wait until permits are free. The log is read from its oldest entry on, and no entry is read twice. The grants of this
-- call are behind all entries of the log.

-- The most entries that one call reads. A request that needs more asks again when those have expired.
local MOST_WALKED = 2000
local FIRST_WALK = 4
-- The number of reads up to MOST_WALKED. Each goes four times as far as the one before.
local MOST_READS = 6

-- For each entry that was read: the sum of the permits up to it, and its moment. And whether the whole log was read.
local sums, moments, isWalked = {}, {}, false

-- Reads on until the entries hold `missing` permits.
local function walk(limiter, missing)
  for _ = 1, MOST_READS do
    local first, sum = #sums, sums[#sums] or 0
    if isWalked or sum >= missing or first >= MOST_WALKED then return end
    local count = math.min(MOST_WALKED, math.max(FIRST_WALK, 4 * first)) - first
    local from = limiter.dropped + first
    local entries = redis.call('ZRANGE', limiter.log, from, from + count - 1, 'WITHSCORES')
    for i = 1, #entries, 2 do
      sum = sum + permitsOf(entries[i])
      sums[#sums + 1], moments[#moments + 1] = sum, tonumber(entries[i + 1])
    end
    isWalked = #entries < 2 * count
  end
end

-- The moment of the entry up to which the entries hold `missing` permits.
local function momentOf(limiter, missing)
  for i = 1, #sums do
    if sums[i] >= missing then return math.min(limiter.at, moments[i]) end
  end
  return isWalked and limiter.at or math.min(limiter.at, moments[#moments])
end

-- Microseconds until `permits` are free, or a lower bound of it; 0 if they are free. Nothing in the log has expired, and this
-- call adds `granted` permits to it.
local function waitFor(limiter, permits, granted)
  walk(limiter, permits - limiter.value)
  local sum = (sums[#sums] or 0) + granted
  if isWalked and sum < permits - limiter.value then
    -- The whole log does not hold what is missing: `value` was wrong.
    limiter.value, limiter.trusted = limiter.rate - sum, true
  end
  local missing = permits - limiter.value
  if missing <= 0 then return 0 end
  return math.max(1, (momentOf(limiter, missing) + limiter.interval) * 1000 - limiter.us)
end
