-- Returns the free permits of a limiter on the keys of Redisson, and charges nothing.
--
-- KEYS[1…7]  as in state/limiter.lua
--
-- Reply: an empty list if the limiter has no rate, or else a list with their number.

-- @include "redisson/state/save"

local limiter = openLimiter(COUNTED_AT_LEISURE)
if not limiter then return {} end
-- An expired entry that is still in the log may hold more than one permit: it has to be read.
makeFree(limiter, math.huge)
saveLimiter(limiter, false)
return { math.max(0, freeOf(limiter)) }
