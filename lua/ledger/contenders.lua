-- The contenders: the clients that hold a reservation or wait for one. The near future is divided among them.
-- The twin of src/stores/memory/contenders.ts.
--
-- A single contender is stored in the ledger itself, so that a call without contention needs no further key.
-- Several are stored in the sorted set `key`, scored by the moment until which they count.

local countOthers, noteContender

do
  -- The most expired contenders that one call removes, as there may be a million.
  local DROPPED = 128

  -- The number of contenders beside this client.
  function countOthers(ledger, key, client, now)
    local others = 0
    if ledger.sole ~= client and ledger.soleUntil > now then others = 1 end
    if ledger.crowdUntil > now then
      local all = readKey('contenders', 'ZCARD', key)
      others = redis.call('ZCOUNT', key, string.format('(%.0f', now), '+inf')
      local own = tonumber(redis.call('ZSCORE', key, client) or 0)
      if not inRange(own, own) then refuseKey(key, 'contenders', 'a score that is out of range') end
      if all > others then
        writeLater('ZREMRANGEBYRANK', key, '0', string.format('%.0f', math.min(all - others, DROPPED) - 1))
      end
      if own > now then others = others - 1 else own = 0 end
      if others == 0 then ledger.crowdUntil, ledger.sole, ledger.soleUntil = 0, client, own end
    end
    return others
  end

  local function join(ledger, key, client, till, now)
    writeLater('ZADD', key, 'GT', string.format('%.0f', till), client)
    ledger.crowdUntil = math.max(ledger.crowdUntil, till)
    writeLater('PEXPIRE', key, string.format('%.0f', ledger.crowdUntil - now))
  end

  -- Counts the client as a contender until a moment; a past moment removes it.
  function noteContender(ledger, key, client, till, now)
    local stays = till > now
    if ledger.crowdUntil > now then
      if stays then join(ledger, key, client, till, now) else writeLater('ZREM', key, client) end
    elseif ledger.sole == client then
      ledger.soleUntil = stays and math.max(till, ledger.soleUntil) or 0
    elseif stays and ledger.soleUntil > now then
      writeLater('UNLINK', key)
      join(ledger, key, ledger.sole, ledger.soleUntil, now)
      join(ledger, key, client, till, now)
    elseif stays then
      ledger.sole, ledger.soleUntil = client, till
    end
  end
end
