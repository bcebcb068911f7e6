-- @include "heads/common"

-- A token bucket, after the head: units, tail, since1, held1, since0, held0, lastAt, lastAfter, lastCount and
-- reserved. Its `ts` is `seen`.
local BUCKET_KIND, BUCKET, BUCKET_SIZE = 116, '<ddddddddI4I4', 72
