-- @include "heads/common"

-- A sliding window, after the head: total, newest, the count and time of the open entry, and the number of entries, all of
-- which a grant may change; purged + 1; and the three numbers of the limit. The entries are behind its text, the oldest first.
-- If their number is IN_LIST, they are in the list, and the time of the oldest one and the length of the list are there.
local WINDOW_KIND, WINDOW = 115, '<I7I6I7I6BI6I7I7I7'
local ENTRY, ENTRY_SIZE, MOST_INLINE, IN_LIST = '<I6I4', 10, 8, 255
-- The bound of the count of an ENTRY.
local COUNT_BOUND = 2 ^ 32
-- From this many entries on, a log gets new ones only a thousandth of the interval apart.
local MOST_ENTRIES = 2048
