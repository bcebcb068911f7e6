-- What a call of reserve asks for where the quick way may serve it: like requests of a client that holds nothing booked.
-- Its arguments are told in reserve.lua.

local asked, ownUs, exact = 0, nil, false
local spec, stored, known, lastMoment = ARGV[2], ARGV[3], ARGV[9] + 0, ARGV[10] + 0
local permits, interval, extra = ARGV[4] + 0, ARGV[5] + 0, ARGV[6] + 0
if ARGV[12] == '1' and ARGV[8] == '0' then asked, ownUs = ARGV[13] * ARGV[15], ARGV[16] end
