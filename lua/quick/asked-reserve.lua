-- The arguments of reserve.lua that the fast path needs; see there. It serves like requests of a client
-- without reservations.

local asked, ownUs, exact = 0, nil, false
local spec, stored, known, lastMoment = ARGV[2], ARGV[3], ARGV[9] + 0, ARGV[10] + 0
local permits, interval, extra = ARGV[4] + 0, ARGV[5] + 0, ARGV[6] + 0
if ARGV[12] == '1' and ARGV[8] == '0' then asked, ownUs = ARGV[13] * ARGV[15], ARGV[16] end
