-- Says how many permits are free, on the keys of Redisson, and charges nothing.
--
-- KEYS[1…7]  as in state/limiter.lua
--
-- Reply: an empty list where the limiter has no rate. Else a list with their number.

-- @include "redisson/state/save"

local limiter = openLimiter(COUNTED_AT_LEISURE)
if not limiter then return {} end
-- What has expired and is still in the log may hold more than one permit an entry: that is seen when it is taken out.
makeFree(limiter, math.huge)
saveLimiter(limiter, false)
return { math.max(0, freeOf(limiter)) }
