-- Takes grants back, on the keys of Redisson: what is left of them in the log. A call that is sent twice counts once.
--
-- KEYS[1…7]  as in state/limiter.lua
--
-- ARGV[1]    a number that no earlier call for the same grants had, from 1 to 255
-- ARGV[2…]   for each call of acquire.lua: its 13 bytes, the moment at which it was granted, and how many permits to take back
--
-- Reply: how many permits were taken back.

-- @include "redisson/state/save"

-- Entries that a call of acquire.lua may have written, and a few more.
local MOST_OF_CALL = 1100
-- Entries of one moment that are halved until the first of a call is found: more than any log has.
local MOST_HALVED = 64
-- Entries that are taken out at a time.
local TAKEN_OUT = 500

local limiter = openLimiter()
if not limiter then return 0 end
local number = tonumber(ARGV[1])

-- Whether a member comes before all that begin with some bytes.
local function isBefore(member, head)
  for i = 1, #head do
    local one, other = member:byte(i) or -1, head:byte(i)
    if one ~= other then return one < other end
  end
  return false
end

-- The entries of a call, in the order of their places: among those of their moment they lie next to each other.
local function entriesOf(call, moment)
  local head, found, log = string.char(16) .. call, {}, limiter.log
  local low = redis.call('ZCOUNT', log, '-inf', '(' .. moment)
  local high = low + redis.call('ZCOUNT', log, moment, moment)
  local behind = high
  for _ = 1, MOST_HALVED do
    if low >= high or behind - low <= MOST_OF_CALL then break end
    local middle = math.floor((low + high) / 2)
    local member = redis.call('ZRANGE', log, middle, middle)[1]
    if isBefore(member, head) then low = middle + 1 else high = middle end
  end
  local members = redis.call('ZRANGE', log, low, math.min(behind, low + MOST_OF_CALL) - 1)
  if low >= behind then return found end
  for i = 1, #members do
    if members[i]:sub(1, #head) == head then found[#found + 1] = members[i] end
  end
  return found
end

-- Entries that are to leave the log, and those of which a part stays: the moment, the entry and the rest.
local gone, parts = {}, {}

local function takeBack(call, moment, permits)
  -- What has expired comes back by itself.
  if tonumber(moment) <= limiter.now - limiter.interval then return 0 end
  local entries, left = entriesOf(call, moment), permits
  if #entries == 0 or entries[#entries]:byte(17) == number then return 0 end
  for i = #entries, 1, -1 do
    local entry, held = entries[i], permitsOf(entries[i])
    if left < held then
      -- What is left of the call says who has taken of it last.
      parts[#parts + 1] = { moment, entry, struct.pack('>c0B<I4', entry:sub(1, 16), number, held - left) }
      return permits
    end
    gone[#gone + 1], left = entry, left - held
  end
  return permits - left
end

local taken = 0
for i = 2, #ARGV, 3 do taken = taken + takeBack(ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2])) end
recount(limiter)

beginSave(limiter)
for i = 1, #parts do replaceEntry(limiter, unpack(parts[i])) end
for first = 1, #gone, TAKEN_OUT do
  redis.call('ZREM', limiter.log, unpack(gone, first, math.min(first + TAKEN_OUT - 1, #gone)))
end
limiter.value = limiter.value + taken
lookAgain(limiter)
writeValue(limiter)
endSave(limiter, false)
return taken
