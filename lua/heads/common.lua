-- The head of a small ledger, which is that of a limiter with one unnamed limit: the letter of its kind,
-- version, epoch, seen, expires, calm (the moment from which there are no contenders, reservations or pause),
-- slack (the milliseconds that the key lives longer than needed), and the three numbers of the limit. The
-- numbers of its kind follow. The fast path reads both at once: its format is the head's and the kind's, one
-- after the other. Data of another version is refused.
local VERSION, HEAD = 9, '<BBdddI6I4ddd'
-- The fewest milliseconds that a ledger is kept: a limiter in use keeps its epoch even if it is full again before each call.
local LEAST_LIFE = 1000
-- The most milliseconds that a key lives longer than needed.
local MOST_SLACK = 2 ^ 32 - 1
-- The last byte that is read of a key: no ledger is longer, but any client may have written more to the key.
local LAST_BYTE = '262143'
