-- @include "heads/common"

-- A fixed window, after the head: start, stop, used, newest and booked.
local FIXED_KIND, FIXED, FIXED_SIZE = 102, '<ddddd', 40
