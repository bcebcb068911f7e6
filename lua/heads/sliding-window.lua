-- @include "heads/common"

-- A sliding window, after the head: total, newest, purged, the time and count of the open entry, and the
-- number of entries that follow, the oldest first. If that number is IN_LIST, the entries are in the list,
-- and the time of the oldest one and the length of the list follow.
local WINDOW_KIND, WINDOW = 115, '<dddddB'
local ENTRY, ENTRY_SIZE, MOST_INLINE, IN_LIST = '<I6I4', 10, 8, 255
-- The bounds of the two numbers of an ENTRY.
local TIME_BOUND, COUNT_BOUND = 2 ^ 48, 2 ^ 32
-- From this many entries on, a log gets new ones only a thousandth of the interval apart.
local MOST_ENTRIES = 2048
