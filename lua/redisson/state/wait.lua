-- How long until permits are free: the log is walked from its oldest entry on, and while it does not change no entry is read
-- twice.

-- Entries that a call looks at for this. Who needs more asks again when those have expired.
local MOST_WALKED = 2000
local FIRST_WALK = 4

-- For each entry walked: the permits up to it, and its moment.
local sums, moments = {}, {}

-- An entry has come into the log, perhaps between two others: their order is that of their bytes where they are of one time.
local function forgetWalk()
  sums, moments = {}, {}
end

-- Microseconds until so many permits are free, or at least will not be; 0 where they are. Nothing in the log has expired.
local function waitFor(limiter, permits)
  local place = 1
  while true do
    local missing = permits - limiter.value
    if missing <= 0 then return 0 end
    while sums[place] and sums[place] < missing do place = place + 1 end
    if sums[place] or #sums >= MOST_WALKED then break end
    local first, sum = #sums, sums[#sums] or 0
    local last = math.min(MOST_WALKED, math.max(FIRST_WALK, 4 * first)) - 1
    local entries = redis.call('ZRANGE', limiter.log, first, last, 'WITHSCORES')
    for i = 1, #entries, 2 do
      sum = sum + permitsOf(entries[i])
      sums[#sums + 1], moments[#moments + 1] = sum, tonumber(entries[i + 1])
    end
    -- The whole log does not hold what is missing: `value` was wrong.
    if #entries == 0 then limiter.value, limiter.trusted, place = limiter.rate - sum, true, 1 end
  end
  local moment = math.min(limiter.at, moments[math.min(place, #moments)])
  return math.max(1, (moment + limiter.interval) * 1000 - limiter.us)
end
