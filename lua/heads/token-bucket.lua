-- @include "heads/common"

-- A token bucket, after the head: units, lastAt and the number of steps. Each step follows: since, stop and held, the newest
-- step first. Its `ts` is `seen`. Its moments are below MOMENT_BOUND, and the permits of a step below HELD_BOUND.
local BUCKET_KIND, BUCKET, SMALL_BUCKET, SMALL_BUCKET_SIZE = 116, '<di6B', '<BBdddI6I4ddddi6B', 75
local STEP, STEP_SIZE = '<I6I6I6', 18
-- The head of a bucket, and its newest step.
local BUCKET_WITH_STEP = '<BBdddI6I4ddddi6BI6I6I6'
local MOMENT_BOUND, HELD_BOUND = 2 ^ 47, 2 ^ 46
-- The most steps of past grants.
local MOST_PAST = 12
