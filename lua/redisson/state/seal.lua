-- `value` is sealed while it is known to be the rate less the permits of all entries in the log: it gets an expiry then,
-- some hundred thousand years away, that says for which rate. Redisson subtracts what it grants, which keeps the expiry,
-- and writes whatever else it makes of `value` anew, which removes it. Only a config that lasts lets its state last: that
-- of another one has to expire with it, and cannot be sealed.

-- The expiry is this and the rate, in milliseconds. Before Redis 7 it cannot be read: nothing is sealed then.
local SEALED = 4000000000000000
-- One call in so many does not trust the seal: somebody may have changed a key by hand.
local CHECKED = 1009
