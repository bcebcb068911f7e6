-- @include "quick/asked-decide"
-- @include "quick/open"
-- @include "quick/sliding-window"
-- @include "quick/fixed-window"
-- @include "quick/token-bucket"
-- @include "quick/save"

if taken then return { 1, 0, full * 1000 - us, left < 2 ^ 52 and left or string.format('%.0f', left) } end
