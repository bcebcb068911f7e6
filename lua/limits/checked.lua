-- What is read of a state: keys that somebody else has written to must grant nothing.

-- Raises unless the sum is that of finite numbers.
local function checkFinite(sum)
  if sum - sum ~= 0 then error('the ledger holds a number that is not finite') end
end

-- Raises unless the sum is that of numbers of a head, which are not large.
local function checkSmall(sum)
  if not (sum > -2 ^ 60 and sum < 2 ^ 60) then error('the ledger holds a number that is out of range') end
end

-- Raises unless all are numbers from zero on.
local function checkCounts(a, b, c)
  if not (a >= 0 and b >= 0 and c >= 0) then error('the ledger holds a count below zero') end
end

-- Raises unless the rate of a limit can be one.
local function checkRate(permits, interval, extra)
  if not (permits >= 1 and interval >= 1 and extra >= 0) then error('the ledger holds a limit that is none') end
end
