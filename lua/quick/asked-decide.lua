-- The arguments of decide.lua that the fast path needs; see there.

local asked, ownUs, exact, known, lastMoment, patience = 1, nil, true, 0, 0, 0
if ARGV[3] then
  asked, ownUs = ARGV[3] + 0, ARGV[4]
  if ARGV[5] then lastMoment, ownUs = ARGV[4] + 0, ARGV[6] end
end
