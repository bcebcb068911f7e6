-- Makes several decisions in one call, which share the time of the call, of TIME and of the arguments: each by the fast path of
-- decide.lua. Its callers make only decisions that the fast path is likely to serve.
--
-- KEYS[1…]  the keys of the first decision, then those of the second, and so on: those that decide.lua has
--
-- ARGV[1]   the limit that the client expects to be in force for each of them, as in decide.lua
-- ARGV[2]   1 if it was stored, 0 if it is the client's own; then the client
-- ARGV[3]   the number of keys of a decision: 2, or 4 with the log
-- in tests only: the server's time in microseconds
--
-- Reply: a list with the reply of decide.lua to each decision; 0 if it has to be made by decide.lua. Nothing was changed for it
-- then: a decision that fails does not affect the others.

local function decideOne(KEYS, ARGV)
  -- @body "quick/decide"
end

local count, time, keys, replies = ARGV[3] + 0, redis.call('TIME'), {}, {}
local arguments = { ARGV[1], ARGV[2], 1, ARGV[4] or time[1] * 1000000 + time[2] }
for i = 1, #KEYS, count do
  keys[1], keys[2] = KEYS[i], KEYS[i + 1]
  if count > 2 then keys[3], keys[4] = KEYS[i + 2], KEYS[i + 3] end
  local succeeded, reply = pcall(decideOne, keys, arguments)
  replies[#replies + 1] = succeeded and reply or 0
end
return replies
