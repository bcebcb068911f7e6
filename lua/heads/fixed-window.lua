-- @include "heads/common"

-- A fixed window, after the head: start, stop, used, newest and reserved.
local FIXED_KIND, FIXED = 102, '<ddddd'
