-- The arguments of reserve.lua that the fast path needs; see there. It serves like requests of a client
-- without reservations. `patience` is the longest wait of a single request that does not wait as long as necessary.

local asked, ownUs, exact, known, lastMoment, requests, patience = 1, nil, false, ARGV[3] + 0, 0, ARGV[5] or 1, nil
if ARGV[7] then
  local first = 6
  asked = 0
  if ARGV[5] ~= '0' then
    first = 9
    if ARGV[6] == '0' then lastMoment = ARGV[7] + 0 else first = #ARGV end
  end
  requests = ARGV[first]
  if ARGV[first + 2] and not ARGV[first + 4] then
    asked, ownUs = requests * ARGV[first + 2], ARGV[first + 3]
    if requests == '1' and ARGV[5] ~= '4' and ARGV[first + 1] ~= '-1' then patience = ARGV[first + 1] end
  end
else
  asked, ownUs = requests + 0, ARGV[6]
end
