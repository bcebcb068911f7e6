-- @include "limits/sliding-window"
-- @include "limits/fixed-window"
-- @include "limits/token-bucket"

local makers = { s = slidingWindow, f = fixedWindow, t = tokenBucket }
local algebras = {}

-- The functions of the limits of a kind, made when they are first asked for.
local function algebraOf(kind)
  if not algebras[kind] then algebras[kind] = makers[kind]() end
  return algebras[kind]
end
