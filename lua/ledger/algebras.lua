-- @include "limits/sliding-window"
-- @include "limits/fixed-window"
-- @include "limits/token-bucket"

local algebraOf

do
  local makers = { s = slidingWindow, f = fixedWindow, t = tokenBucket }
  local algebras = {}

  -- The functions of a kind of limit, created on first use, as each function made in a script costs time.
  function algebraOf(kind)
    if not algebras[kind] then algebras[kind] = makers[kind]() end
    return algebras[kind]
  end
end
