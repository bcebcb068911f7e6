-- The permits of a cost, as an argument. A call with other numbers grants nothing, and could not end.
local function askedPermits(argument)
  local permits = tonumber(argument)
  if not (permits >= 0 and permits < 2 ^ 53) then error('a cost that is no number of permits', 0) end
  return permits
end
