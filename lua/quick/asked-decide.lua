-- The arguments of decide.lua that the fast path needs; see there.

local asked, ownUs, exact = ARGV[7] + 0, ARGV[8], true
local spec, stored, known, lastMoment = ARGV[2], ARGV[3], 0, 0
if ARGV[9] then lastMoment, ownUs = ARGV[8] + 0, ARGV[10] end
local permits, interval, extra = ARGV[4] + 0, ARGV[5] + 0, ARGV[6] + 0
