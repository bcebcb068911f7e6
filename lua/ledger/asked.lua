-- What scripts read from their arguments.

-- The limits in ARGV[1] as JSON. A single unnamed limit is shorter: 's10,1000,1]' stands for [["","s",10,1000,1]].
local function limitsIn(argument)
  if argument:sub(1, 1) == '[' then return argument end
  return '[["","' .. argument:sub(1, 1) .. '",' .. argument:sub(2) .. ']'
end

-- Reads the permits of a cost from an argument. Any other number is refused: with it, the call might never end.
local function askedPermits(argument)
  local permits = tonumber(argument)
  if not (permits >= 0 and permits < 2 ^ 53) then error('a cost that is no number of permits', 0) end
  return permits
end
