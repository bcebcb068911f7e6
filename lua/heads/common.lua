-- The head of a small ledger, which is that of a limiter with one unnamed limit: the letter of its kind, version, epoch, calm
-- (the moment from which there are no contenders, reservations or pause), kept (the moment at which its key expires), seen and
-- expires. Then come the numbers of its kind, the last three of them those of the limit; their checksum (lua/heads/checksum);
-- the limit as a text (see `limitsIn`); and what has no fixed length. Data of another version is refused.
--
-- The fast path reads all numbers with one format, the head's and the kind's, one after the other, and the letter and the
-- version as one number. Most grants change only some of those from `seen` on, which follow each other. All of them are whole
-- numbers without a sign, so every value of their bytes is in range.
local VERSION, HEAD = 21, '<BBI7I6I6I6I6'
-- The letter of every other ledger.
local WHOLE_KIND = 119
-- The bytes before `calm`.
local CALM_AT = '9'
-- The format of the checksum of the limit's numbers.
local CHECKSUM = '<I7'
-- Epochs and moments in the head are below these.
local EPOCH_BOUND, TIME_BOUND = 2 ^ 56, 2 ^ 48
-- The fewest milliseconds that a ledger is kept: a limiter in use keeps its epoch even if it is full again before each call.
local LEAST_LIFE = 1000
-- The most milliseconds that a key lives longer than needed: 2 ^ 32 - 1.
local MOST_SLACK = 4294967295
-- The last byte that is read of a key: no ledger is longer, but any client may have written more to the key.
local LAST_BYTE = '262143'
