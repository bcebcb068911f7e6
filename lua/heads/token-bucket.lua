-- @include "heads/version"

-- The ledger of a token bucket that has no name: kind, version, epoch, seen, expires, calm, slack, the three numbers of the limit,
-- units, tail, since1, held1, since0, held0, lastAt, lastAfter, lastCount and booked. Its `ts` is `seen`.
local BUCKET_KIND, BUCKET_HEAD, BUCKET_SIZE = 116, '<BBdddI6I4dddddddddddI4I4', 132
