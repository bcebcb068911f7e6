-- Writes wait until all that can fail has been read and computed: a script that fails before has changed nothing.

local writes = {}

local function writeLater(...)
  writes[#writes + 1] = { ... }
end

-- Makes the writes, in order. Redis may refuse any of them to this user: what stands before it is done, what follows is not.
local function makeWrites()
  for i = 1, #writes do redis.call(unpack(writes[i])) end
end
