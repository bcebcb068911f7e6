-- Reads the permits of a cost from an argument. Any other number is refused: with it, the call might never end.
local function askedPermits(argument)
  local permits = tonumber(argument)
  if not (permits >= 0 and permits < 2 ^ 53) then error('a cost that is no number of permits', 0) end
  return permits
end
