-- How the ledger of a limiter of one limit without a name begins: the letter of its kind, version, epoch, seen, expires, calm,
-- slack, and the three numbers of the limit. What another version has written is refused.
local VERSION, HEAD, HEAD_SIZE = 5, '<BBdddI6I4ddd', 60
-- Milliseconds that a key lives for longer than it has to, at most.
local MOST_SLACK = 2 ^ 32 - 1
