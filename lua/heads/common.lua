-- The head of a small ledger, which is that of a limiter with one unnamed limit: the letter of its kind,
-- version, epoch, seen, expires, calm, slack, and the three numbers of the limit. Data of another version is
-- refused.
local VERSION, HEAD, HEAD_SIZE = 5, '<BBdddI6I4ddd', 60
-- The most milliseconds that a key lives longer than needed.
local MOST_SLACK = 2 ^ 32 - 1
