-- The entries of a log, as Redisson writes them: the number of random bytes, those bytes, and the permits as four bytes in
-- little-endian order.
--
-- This package writes 16 bytes that are not random: the call (13), the place of the entry in it (2, big-endian), and the
-- number of the last refund of the call, or 0 (1).

-- Entries in one ZRANGE.
local STEP = 1000

local function refuseMember()
  error('key ' .. KEYS[1] .. ': expected each entry of its log to hold permits in its last four bytes', 0)
end

local function permitsOf(member)
  local a, b, c, d = string.byte(member, -4, -1)
  if not d then refuseMember() end
  return a + b * 256 + c * 65536 + d * 16777216
end

local function sumOf(members)
  local sum = 0
  for i = 1, #members do
    local a, b, c, d = string.byte(members[i], -4, -1)
    if not d then refuseMember() end
    sum = sum + a + b * 256 + c * 65536 + d * 16777216
  end
  return sum
end
