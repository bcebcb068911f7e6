-- @include "heads/common"

-- A sliding window behind the head: total, newest, purged, the time and count of the open entry, and how many entries stand behind
-- it, the oldest first; or IN_LIST: behind it stand the time of the oldest entry of the list, and the length of that.
local WINDOW_KIND, WINDOW, WINDOW_SIZE = 115, '<dddddB', 41
local ENTRY, ENTRY_SIZE, MOST_INLINE, IN_LIST = '<I6I4', 10, 8, 255
-- Numbers of an entry, and of a head, lie below.
local TIME_BOUND, COUNT_BOUND = 2 ^ 48, 2 ^ 32
