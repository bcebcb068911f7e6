-- @include "heads/common"

-- A fixed window, after the head: start, stop, used, newest and booked.
local FIXED_KIND, FIXED, SMALL_FIXED, SMALL_FIXED_SIZE = 102, '<ddddd', '<BBdddI6I4dddddddd', 100
