-- Writes the ledger after a grant of the fast path.

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
    renewed = string.format('%.0f', renewed)
    if pushed then redis.call('PEXPIRE', KEYS[4], renewed) end
    redis.call('SET', KEYS[1], taken, 'PX', renewed)
  else
    redis.call('SET', KEYS[1], taken, 'KEEPTTL')
  end
end
