-- Makes `value` agree with the log, by counting its entries. A long log is counted in several calls, from the newest entry
-- on; meanwhile a field of the config holds the progress. Redisson does not read that field.

-- The most entries that one call counts.
local MOST_COUNTED = 8000

-- Counts entries from a place on, from the newest to the oldest: their permits, their number, and the first and last.
local function sumFrom(limiter, place, most)
  local sum, count, first, last = 0, 0, nil, nil
  -- Entries that are to leave the log are behind the others.
  most = math.min(most, limiter.size - place)
  for from = place, place + most - 1, STEP do
    local members = redis.call('ZREVRANGE', limiter.log, from, math.min(from + STEP, place + most) - 1)
    sum, count, first, last = sum + sumOf(members), count + #members, first or members[1], members[#members]
  end
  return sum, count, first, last
end

local function fieldOf(limiter)
  return 'counted ' .. limiter.log
end

-- The progress of a count that is not finished.
local function countedOf(limiter)
  local field = not limiter.trusted and redis.call('HGET', KEYS[1], fieldOf(limiter))
  if not field then return nil end
  local isRead, counted = pcall(cmsgpack.unpack, field)
  -- If it cannot be read, the count begins anew.
  if isRead and type(counted) == 'table' and (tonumber(counted.sum) or -1) >= 0 then return counted end
  return { sum = 0, count = 0, unknown = true }
end

-- The place of the counted entries if they are still next to each other in the log; otherwise the count begins anew.
local function placeOf(limiter, counted)
  if counted.count == 0 or not (counted.first and counted.last) then return nil end
  local first = redis.call('ZREVRANK', limiter.log, counted.first)
  local last = redis.call('ZREVRANK', limiter.log, counted.last)
  if not (first and last) or first >= MOST_COUNTED or last >= limiter.size then return nil end
  if last - first + 1 == counted.count then return first end
end

-- Sets the progress that is to be saved.
local function noteProgress(limiter, progress)
  progress.unknown = limiter.unknown
  limiter.progress = progress
end

-- Begins the count anew, as counted entries may hold fewer permits now. Removed entries are noticed without this.
local function recount(limiter)
  if limiter.progress then noteProgress(limiter, { sum = 0, count = 0 }) end
end

-- Counts the log, or goes on with it. Until the count is finished, `value` is not sealed, and a `value` that could not be
-- right remains unknown.
local function countLog(limiter)
  local counted = limiter.counted
  local place = counted and placeOf(limiter, counted)
  if not place then counted, place = { sum = 0, count = 0 }, 0 end
  local newer, before, first = sumFrom(limiter, 0, place)
  local older, behind, top, last = sumFrom(limiter, place + counted.count, MOST_COUNTED - before)
  local sum, count = newer + counted.sum + older, before + counted.count + behind
  if count < limiter.size then
    first, last = first or counted.first or top, last or counted.last
    noteProgress(limiter, { sum = sum, count = count, first = first, last = last })
    -- Each other entry holds at least one permit.
    limiter.value = math.min(limiter.value, limiter.rate - sum - (limiter.size - count))
    limiter.trusted, limiter.settled = false, nil
    return
  end
  limiter.value, limiter.trusted, limiter.unknown = limiter.rate - sum, true, false
  limiter.till = limiter.us + count * BELIEVED
end
