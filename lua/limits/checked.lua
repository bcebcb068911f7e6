-- Checks of a state that was read: a key that another program has changed must grant nothing. The errors name
-- what was found.

-- Raises an error if one of the numbers in the sum is not finite.
local function checkFinite(sum)
  if sum - sum ~= 0 then error('a number that is not finite', 0) end
end

-- Raises an error if the sum of numbers of a head is too large.
local function checkSmall(sum)
  if not (sum > -2 ^ 60 and sum < 2 ^ 60) then error('a number that is out of range', 0) end
end

-- Raises an error if a count is negative or NaN.
local function checkCounts(a, b, c)
  if not (a >= 0 and b >= 0 and c >= 0) then error('a count below zero', 0) end
end

-- Raises an error if the numbers are no valid limit.
local function checkRate(permits, interval, extra)
  if not (permits >= 1 and interval >= 1 and extra >= 0) then error('an invalid limit', 0) end
end
