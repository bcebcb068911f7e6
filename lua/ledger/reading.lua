-- What is read of a key is checked once: anybody may have written to it, and a number that is none would pass for room.

-- Times and counts lie far below it, and the commands that are given them accept no more.
local LARGEST = 2 ^ 60

-- Whether all numbers are from 0 to the largest. Each comparison is false for NaN.
local function inRange(least, sum)
  return least >= 0 and sum <= LARGEST
end

local function refuseKey(key, expected, reason)
  error('the key ' .. key .. ' holds no ' .. expected .. (reason and ': ' .. tostring(reason) or ''), 0)
end

-- What a command reads of a key. One of another type is named, with what was expected.
local function readKey(expected, command, key, ...)
  local reply = redis.pcall(command, key, ...)
  if type(reply) ~= 'table' or not reply.err then return reply end
  if reply.err:find('WRONGTYPE', 1, true) then refuseKey(key, expected, reply.err) end
  return redis.call(command, key, ...)
end
