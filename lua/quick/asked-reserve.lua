-- The arguments of reserve.lua that the fast path needs; see there. It serves like requests of a client
-- without reservations.

local asked, ownUs, exact, known, lastMoment, requests = 1, nil, false, ARGV[3] + 0, 0, ARGV[5] or 1
if ARGV[7] then
  local first = 6
  asked = 0
  if ARGV[5] ~= '0' then
    first = 9
    if ARGV[6] == '0' then lastMoment = ARGV[7] + 0 else first = #ARGV end
  end
  requests = ARGV[first]
  if ARGV[first + 2] and not ARGV[first + 4] then asked, ownUs = requests * ARGV[first + 2], ARGV[first + 3] end
else
  asked, ownUs = requests + 0, ARGV[6]
end
