-- @include "heads/version"

-- The ledger of a token bucket that has no name: kind, version, epoch, seen, expires, calm, slack, the three numbers of the limit,
-- units, tail, room1, room0, lastAt, lastAfter, lastRoom, lastCount and booked. Its `ts` is `seen`.
local BUCKET_KIND, BUCKET_HEAD, BUCKET_SIZE = 116, '<BBdddI6I4ddddddddddI4I4', 124
