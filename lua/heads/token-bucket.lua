-- @include "heads/common"

-- A token bucket, after the head: units, tail, since1, held1, since0, held0, lastAt, lastAfter, lastCount and
-- reserved. Its `ts` is `seen`. Its moments are below MOMENT_BOUND.
local BUCKET_KIND, BUCKET, SMALL_BUCKET, SMALL_BUCKET_SIZE = 116, '<di6I6dI6di6i6I4I4', '<BBdddI6I4ddddi6I6dI6di6i6I4I4', 122
local MOMENT_BOUND = 2 ^ 47
