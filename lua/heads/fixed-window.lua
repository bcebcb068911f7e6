-- @include "heads/version"

-- The ledger of a fixed window that has no name: kind, version, epoch, seen, expires, calm, slack, the three numbers of the limit,
-- start, stop, used, newest and booked.
local FIXED_KIND, FIXED_HEAD, FIXED_SIZE = 102, '<BBdddI6I4dddddddd', 100
