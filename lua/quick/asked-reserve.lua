-- The arguments of reserve.lua that the fast path needs; see there. It serves like requests of a client
-- without reservations.

local asked, ownUs, exact, known, lastMoment, first = 0, nil, false, ARGV[6] + 0, 0, 8
if not ARGV[10] then
  asked, ownUs = ARGV[8] + 0, ARGV[9]
else
  first = 9
  if ARGV[8] ~= '0' then
    first = 12
    if ARGV[9] == '0' then lastMoment = ARGV[10] + 0 else first = #ARGV end
  end
  if ARGV[first + 2] and not ARGV[first + 4] then asked, ownUs = ARGV[first] * ARGV[first + 2], ARGV[first + 3] end
end
