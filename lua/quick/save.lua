-- Writes the ledger after the fast path has granted or refused a request.

if taken and pushed then
  local length = redis.pcall('RPUSH', KEYS[4], pushed)
  if length ~= lengthBefore + 1 then
    -- The key holds another list than the one that the ledger describes, or cannot be written to.
    if type(length) == 'number' then redis.call('LTRIM', KEYS[4], 0, -2) end
    taken = false
  end
end
if taken then
  if second then redis.call('LTRIM', KEYS[4], '1', '-1') end
  -- `taken` has all numbers if the key is renewed, otherwise those from `seen` on that a grant changes. What follows them stays,
  -- except for the place of what is added.
  if fresh then
    taken = taken .. text
  elseif added then
    local rest = #data >= after and data:sub(after) or ''
    if renewed then
      taken = taken .. data:sub(#taken + 1, place - 1) .. added .. rest
    elseif place + #added == after then
      taken, added = taken .. data:sub(22 + #taken, place - 1) .. added, nil
    else
      taken = data:sub(1, 21) .. taken .. data:sub(22 + #taken, place - 1) .. added .. rest
    end
  elseif renewed then
    taken = taken .. data:sub(#taken + 1)
  end
  if renewed then
    if lengthBefore then redis.call('PEXPIRE', KEYS[4], renewed) end
    redis.call('SET', KEYS[1], taken, 'PX', renewed)
  elseif added then
    redis.call('SET', KEYS[1], taken, 'KEEPTTL')
  else
    redis.call('SETRANGE', KEYS[1], '21', taken)
  end
end
