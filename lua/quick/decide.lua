-- @include "quick/asked-decide"
-- @include "quick/open"
-- @include "quick/sliding-window"
-- @include "quick/fixed-window"
-- @include "quick/token-bucket"
-- @include "quick/refuse"
-- @include "quick/save"

if taken then
  local reset = full * 1000 - us
  -- A number is a quicker reply than a list.
  if not refused and reset < 2 ^ 33 and left < 2 ^ 19 then return left * 2 ^ 33 + reset end
  return { refused and 0 or 1, refused or 0, reset, left < 2 ^ 52 and left or string.format('%.0f', left) }
end
