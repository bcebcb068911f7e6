-- Sets the expiry of a limiter on the keys of Redisson: of its config and its state.
--
-- KEYS[1…5]  as in state/limiter.lua
--
-- ARGV[1]    milliseconds, or -1 for none
--
-- Reply: 1 if that changed the config, or else 0.

local ms = tonumber(ARGV[1])
local changed = 0
for i = #KEYS, 1, -1 do
  if ms < 0 then changed = redis.call('PERSIST', KEYS[i]) else changed = redis.call('PEXPIRE', KEYS[i], ms) end
end
return changed
