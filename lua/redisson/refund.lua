-- Refunds grants on the keys of Redisson, as far as their entries are still in the log. A call that is sent twice counts once.
--
-- KEYS[1…7]  as in state/limiter.lua
--
-- ARGV[1]    a number from 1 to 255 that no earlier call for the same grants had
-- ARGV[2…]   for each call of acquire.lua: its 13 bytes, the granted moment, and the permits to refund
--
-- Reply: the number of refunded permits.

-- @include "redisson/state/save"

-- A call of acquire.lua writes fewer entries.
local MOST_OF_CALL = 1100
-- Steps of the binary search among the entries of one moment: enough for any log.
local MOST_HALVED = 64
-- Entries in one ZREM.
local TAKEN_OUT = 500

local limiter = openLimiter()
if not limiter then return 0 end
local number = tonumber(ARGV[1])

-- Whether a member precedes all members that begin with `head`.
local function isBefore(member, head)
  for i = 1, #head do
    local one, other = member:byte(i) or -1, head:byte(i)
    if one ~= other then return one < other end
  end
  return false
end

-- The entries of a call, in the order of their places. Among the entries of their moment they are next to each other.
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

-- Entries that leave the log; and entries of which a part stays: the moment, the entry and the rest.
local gone, parts = {}, {}

local function takeBack(call, moment, permits)
  -- Expired permits have come back by themselves.
  if tonumber(moment) <= limiter.now - limiter.interval then return 0 end
  local entries, left = entriesOf(call, moment), permits
  if #entries == 0 or entries[#entries]:byte(17) == number then return 0 end
  for i = #entries, 1, -1 do
    local entry, held = entries[i], permitsOf(entries[i])
    if left < held then
      -- The rest of the call holds the number of the last refund.
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
