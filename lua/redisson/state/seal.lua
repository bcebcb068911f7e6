-- `value` is sealed while it is known to be the rate less the permits of all entries in the log, beside a config that lasts:
-- it gets an expiry then, some hundred thousand years away, that says for which rate. Redisson subtracts what it grants,
-- which keeps the expiry, and writes whatever else it makes of `value` anew, which removes it. A `value` must not outlive a
-- config that ends: how it is known there, state/mark.lua says.

-- The expiry is this and the rate, in milliseconds. Before Redis 7 it cannot be read: nothing is sealed then.
local SEALED = 4000000000000000
-- One call in so many does not trust it: somebody may have changed a key by hand.
local CHECKED = 1009
