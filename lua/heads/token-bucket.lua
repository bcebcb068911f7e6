-- @include "heads/common"

-- A token bucket, after the head: units, lastAt and the number of steps. Each step follows: since, stop and held, the newest
-- step first. The bucket's `ts` is `seen`. Moments are below MOMENT_BOUND, and the permits of a step below HELD_BOUND.
local BUCKET_KIND, BUCKET = 116, '<di6B'
local STEP, STEP_SIZE = '<I6I6I6', 18
local MOMENT_BOUND, HELD_BOUND = 2 ^ 47, 2 ^ 46
-- The most steps of past grants.
local MOST_PAST = 12
