-- The arguments of decide.lua that the fast path needs; see there.

local asked, ownUs, exact, known, lastMoment = ARGV[6] + 0, ARGV[7], true, 0, 0
if ARGV[8] then lastMoment, ownUs = ARGV[7] + 0, ARGV[9] end
