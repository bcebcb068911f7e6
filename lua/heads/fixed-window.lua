-- @include "heads/common"

-- A fixed window, after the head: used, newest and reserved, which each grant changes; start and stop; and the three numbers of
-- the limit.
local FIXED_KIND, FIXED = 102, '<I7I6I7I6I6I7I7I7'
