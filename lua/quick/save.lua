-- Writes the ledger after a grant of the fast path: all of it, or only the numbers from `seen` on that a grant changes.

if taken and pushed then
  local length = redis.pcall('RPUSH', KEYS[4], pushed)
  if length ~= lengthBefore + 1 then
    -- The key holds another list than the one that the ledger describes, or cannot be written to.
    if type(length) == 'number' then redis.call('LTRIM', KEYS[4], 0, -2) end
    taken = false
  end
end
if taken then
  if renewed then
    if pushed then redis.call('PEXPIRE', KEYS[4], renewed) end
    redis.call('SET', KEYS[1], whole, 'PX', renewed)
  elseif whole then
    redis.call('SET', KEYS[1], whole, 'KEEPTTL')
  else
    redis.call('SETRANGE', KEYS[1], '21', changed)
  end
end
