-- Makes `value` agree with the log, by all that is in it. What takes too long for one call is done in several, from the
-- newest entry on: the config has a field meanwhile that says how far they have got. Redisson does not look at it.

-- Entries that one call counts at most.
local MOST_COUNTED = 8000

-- Sums up entries from a place on, from the newest to the oldest: the permits, how many they are, and the first and last.
local function sumFrom(log, place, most)
  local sum, count, first, last = 0, 0, nil, nil
  while count < most do
    local members = redis.call('ZREVRANGE', log, place + count, place + math.min(count + STEP, most) - 1)
    if #members == 0 then break end
    sum, count, first, last = sum + sumOf(members), count + #members, first or members[1], members[#members]
  end
  return sum, count, first, last
end

local function fieldOf(limiter)
  return 'counted ' .. limiter.log
end

-- How far the calls before have got with a log, if there is no end to it yet.
local function countedOf(limiter)
  local field = not limiter.trusted and redis.call('HGET', KEYS[1], fieldOf(limiter))
  return field and cmsgpack.unpack(field)
end

-- Those that were counted are still next to each other in the log, or the count begins anew.
local function placeOf(limiter, counted)
  if counted.count == 0 then return nil end
  local first = redis.call('ZREVRANK', limiter.log, counted.first)
  local last = redis.call('ZREVRANK', limiter.log, counted.last)
  if first and last and first < MOST_COUNTED and last - first + 1 == counted.count then return first end
end

local function saveCounted(limiter, counted)
  counted.unknown = limiter.unknown
  redis.call('HSET', KEYS[1], fieldOf(limiter), cmsgpack.pack(counted))
end

-- Entries that were counted hold less by now, where they were. Those that are gone are missed without this.
local function recount(limiter)
  if not limiter.trusted and redis.call('HEXISTS', KEYS[1], fieldOf(limiter)) == 1 then
    saveCounted(limiter, { sum = 0, count = 0 })
  end
end

-- Counts the log, or goes on with it: until that has come to an end, `value` is not sealed, and where it could not be
-- right it remains unknown.
local function countLog(limiter)
  local counted = limiter.counted
  local place = counted and placeOf(limiter, counted)
  if not place then counted, place = { sum = 0, count = 0 }, 0 end
  local newer, before, first = sumFrom(limiter.log, 0, place)
  local older, behind, top, last = sumFrom(limiter.log, place + counted.count, MOST_COUNTED - before)
  local sum, count = newer + counted.sum + older, before + counted.count + behind
  if count < limiter.size then
    first, last = first or counted.first or top, last or counted.last
    saveCounted(limiter, { sum = sum, count = count, first = first, last = last })
    -- Nobody who is told that the log was counted before is to take that for the end of this count.
    redis.call('UNLINK', limiter.mark)
    -- Each entry that is left holds a permit or more.
    limiter.value = math.min(limiter.value, limiter.rate - sum - (limiter.size - count))
    limiter.trusted, limiter.settled = false, nil
    return
  end
  if limiter.counted then redis.call('HDEL', KEYS[1], fieldOf(limiter)) end
  limiter.value, limiter.trusted, limiter.unknown = limiter.rate - sum, true, false
  limiter.till = limiter.us + count * BELIEVED
end
