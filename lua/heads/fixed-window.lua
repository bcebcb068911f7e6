-- @include "heads/common"

-- A fixed window, after the head: start, stop, used, newest and reserved.
local FIXED_KIND, FIXED, SMALL_FIXED, SMALL_FIXED_SIZE = 102, '<ddddd', '<BBdddI6I4dddddddd', 100
