-- @include "heads/common"

-- Every value read from a key is checked: any client may have written to it, and a NaN would pass for free
-- permits.

-- The largest number accepted. Times and counts are far below it, and Redis commands accept no larger ones.
local LARGEST = 2 ^ 60

-- Whether numbers with this minimum and sum are in range. Both comparisons are false for NaN.
local function inRange(least, sum)
  return least >= 0 and sum <= LARGEST
end

-- Raises the error for a key that another program has changed: what was expected, what was found, what to do.
local function refuseKey(key, expected, found)
  local remedy = expected == 'contenders' and 'reset()' or 'the command DEL'
  for i = 1, #KEYS do
    -- reset() deletes the ledger, its logs and the contenders, and delete() the control, too; neither knows the sequences.
    if KEYS[i] == key and i ~= 2 then remedy = i == 3 and 'delete()' or 'reset()' end
  end
  error('the key ' .. key .. ' holds no ' .. expected .. ': found ' .. found .. '; ' .. remedy .. ' deletes it', 0)
end

-- Reads a key. The error for a key of another type names the key and the expected content.
local function readKey(expected, command, key, ...)
  local reply = redis.pcall(command, key, ...)
  if type(reply) ~= 'table' or not reply.err then return reply end
  if reply.err:find('WRONGTYPE') then refuseKey(key, expected, 'a value of another type') end
  return redis.call(command, key, ...)
end

-- The string in a key, no longer than a ledger; nil for none, and for an empty one: to tell them apart would take another command
-- for each limiter without a ledger or a control.
local function readString(expected, key)
  local data = readKey(expected, 'GETRANGE', key, '0', LAST_BYTE)
  return data ~= '' and data or nil
end
