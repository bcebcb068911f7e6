-- The head of a small ledger, which is that of a limiter with one unnamed limit: the letter of its kind,
-- version, epoch, seen, expires, calm, slack, and the three numbers of the limit. The numbers of its kind
-- follow. The fast path reads both at once: its format is the head's and the kind's, one after the other.
-- Data of another version is refused.
local VERSION, HEAD = 9, '<BBdddI6I4ddd'
-- The fewest milliseconds that a ledger is kept: a limiter in use keeps its epoch even if it is full again before each call.
local LEAST_LIFE = 100
-- The most milliseconds that a key lives longer than needed.
local MOST_SLACK = 2 ^ 32 - 1
-- The last byte of a key that is read: any client may have written more to it, and no ledger has as many.
local LAST_BYTE = '262143'
