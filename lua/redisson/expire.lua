-- Sets how long a limiter lives, config and state alike, on the keys of Redisson.
--
-- KEYS[1…5]  as in state/limiter.lua
--
-- ARGV[1]    milliseconds, or -1 for ever
--
-- Reply: 1 where that changed the config, else 0.

local ms = tonumber(ARGV[1])
local changed = 0
for i = #KEYS, 1, -1 do
  if ms < 0 then changed = redis.call('PERSIST', KEYS[i]) else changed = redis.call('PEXPIRE', KEYS[i], ms) end
end
return changed
