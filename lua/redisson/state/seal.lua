-- `value` is sealed while it is known to be the rate less the permits of all entries in the log: its expiry says so, and for
-- which rate. Redisson subtracts what it grants, which keeps the expiry; whatever else it makes of `value` it writes anew,
-- which removes it, and beside a config that ends it sets that of the config. Before Redis 7 an expiry cannot be read:
-- nothing is sealed then.

-- Beside a config that lasts the expiry is this and the rate, in milliseconds: some hundred thousand years away.
local SEALED = 4000000000000000
-- Beside one that ends it is so many milliseconds after that end, and up to so many more that the rate says. Some are left
-- out, as those who set the same expiry twice may do it in two milliseconds.
local AFTER, MARKS = 2, 31
-- One call in so many does not trust the seal: somebody may have changed a key by hand.
local CHECKED = 1009
