-- Writes are collected until everything that can fail has been read and computed, so that a script that fails
-- before has changed nothing.

local writes = {}

local function writeLater(...)
  writes[#writes + 1] = { ... }
end

-- Executes the writes in order. Redis may refuse one of them to this user: those before it are done, those
-- after it are not.
local function makeWrites()
  for i = 1, #writes do redis.call(unpack(writes[i])) end
end
