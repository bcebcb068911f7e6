-- @include "heads/common"

-- A token bucket, after the head: units, lastAt, the number of steps, and since, stop and held of the newest step, all of which
-- each grant changes; and the three numbers of the limit. The earlier steps are behind its text, the oldest first. The bucket's
-- `ts` is `seen`. Moments are below MOMENT_BOUND, and the permits of a step below HELD_BOUND.
local BUCKET_KIND, BUCKET = 116, '<di6BI6I6I6I7I7I7'
local STEP, STEP_SIZE = '<I6I6I6', 18
local MOMENT_BOUND, HELD_BOUND = 2 ^ 47, 2 ^ 46
-- What `lastAt` is in place of a moment: later grants must not join those of the newest step; there was a refill between these;
-- they are never refunded.
local CLOSED, MIXED, ONLY_KEPT = -1, -2, -3
-- The most steps of past grants.
local MOST_PAST = 24
-- Two steps become one if together they hold at most this part of a full bucket, or, while there are too many, up to half of it.
local MERGED_PART = 8
