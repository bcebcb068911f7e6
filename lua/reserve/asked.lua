-- @include "ledger/state"

-- What the arguments of reserve.lua ask for: the client, what it has reserved, and its runs.

local logs = {}
for i = 4, #KEYS do logs[i - 3] = KEYS[i] end
local client, known, horizon = ARGV[2]:sub(2), tonumber(ARGV[3]), tonumber(ARGV[4])

local held, lastMoment, lastEpoch, runs, waits = 0, 0, 0, {}, false
local earlier = ARGV[7] and ARGV[5] == '4'
local serverUs
do
  local position = 6
  local function addRun(count, maxWait, cost)
    if not (count >= 1 and count < 2 ^ 53) then error('requests that are no number of them', 0) end
    if maxWait < 0 then maxWait = math.huge end
    waits = waits or maxWait > 0
    runs[#runs + 1] = { count = count, maxWait = maxWait, cost = cost }
  end
  if ARGV[5] ~= '0' then
    if ARGV[7] then
      position, held, lastMoment, lastEpoch = 9, tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
      waits = held > 0
    else
      addRun(tonumber(ARGV[5] or 1), -1, { 1 })
    end
  end
  while ARGV[position + 1] do
    local cost = {}
    for limit = 1, #logs do cost[limit] = askedPermits(ARGV[position + 1 + limit]) end
    addRun(tonumber(ARGV[position]), tonumber(ARGV[position + 1]), cost)
    position = position + 2 + #logs
  end
  serverUs = serverTime(ARGV[position])
end
