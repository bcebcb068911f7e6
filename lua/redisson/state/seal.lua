-- `value` is sealed while it is known to be the rate minus the permits of all entries in the log, if the config does not
-- expire: it gets an expiry some hundred thousand years ahead, which encodes the rate. Redisson subtracts what it grants, which
-- keeps the expiry; every other change of Redisson sets `value` anew, which removes the expiry. If the config expires, a
-- `value` must not outlive it: see state/mark.lua.
--
-- When a cluster moves the key, the expiry shifts by the time that takes, and by the difference of the clocks: then it encodes no
-- rate, and is no seal.

-- The expiry is this plus so many milliseconds for each permit of the rate. Before Redis 7 it cannot be read, and nothing is sealed.
local SEALED, SEAL_STEP = 4000000000000000, 60000
-- One call in so many does not trust the seal: a key may have been changed by hand.
local CHECKED = 1009
