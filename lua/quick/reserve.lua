-- @include "quick/asked-reserve"
-- @include "quick/open"
-- @include "quick/sliding-window"
-- @include "quick/fixed-window"
-- @include "quick/token-bucket"
-- @include "quick/refuse"
-- @include "quick/save"

if taken then
  if refused then return { us, epoch, 1, -1, -1, -1, -1, 1, -2 - math.max(1000, refused) } end
  if known == epoch then return us end
  return { us, epoch, 1, -1, known > 0 and known < epoch and 0 or -1, -1, -1, requests + 0, 0 }
end
