-- Who shares the near future: the clients that hold a reservation or wait for one. The twin of
-- src/stores/memory/contenders.ts. One client alone is kept in the ledger itself, so that a call without contention
-- pays nothing for the counting; several are kept in the sorted set `key`, scored by when they are forgotten.

-- How many there are, with this client if it joins them; at least 1.
local function countContenders(ledger, key, client, joins, now)
  local others = 0
  if ledger.sole ~= client and ledger.soleUntil > now then others = 1 end
  if ledger.crowdUntil > now then
    redis.call('ZREMRANGEBYSCORE', key, '-inf', string.format('%.0f', now))
    others = redis.call('ZCARD', key)
    local own = redis.call('ZSCORE', key, client)
    if own then others = others - 1 end
    if others == 0 then ledger.crowdUntil, ledger.sole, ledger.soleUntil = 0, client, tonumber(own or 0) end
  end
  if joins then others = others + 1 end
  return math.max(1, others)
end

local function join(ledger, key, client, till, now)
  redis.call('ZADD', key, 'GT', string.format('%.0f', till), client)
  ledger.crowdUntil = math.max(ledger.crowdUntil, till)
  redis.call('PEXPIRE', key, string.format('%.0f', ledger.crowdUntil - now))
end

-- Remembers the client until a moment; one that is past takes it out.
local function noteContender(ledger, key, client, till, now)
  local stays = till > now
  if ledger.crowdUntil > now then
    if stays then join(ledger, key, client, till, now) else redis.call('ZREM', key, client) end
  elseif ledger.sole == client then
    ledger.soleUntil = stays and math.max(till, ledger.soleUntil) or 0
  elseif stays and ledger.soleUntil > now then
    redis.call('DEL', key)
    join(ledger, key, ledger.sole, ledger.soleUntil, now)
    join(ledger, key, client, till, now)
  elseif stays then
    ledger.sole, ledger.soleUntil = client, till
  end
end
