// The scripts of the model of a JVM client: the known behaviour of Redisson's RRateLimiter on its keys, in our own
// words, faults included. Each piece names its behaviour; docs/redisson.md lists the faults. KEYS of all of them: the
// config, and the keys of the state: value, the client's value, permits, the client's permits.

/** The version whose behaviour is followed where they differ: each includes the ones before it. */
export type JvmVersion = '3.15.2' | '3.34.1' | '4.6';

/** The config, and the keys of its state: one pair for all clients, or a pair for each. */
const begin = `
local rate, interval = redis.call('hget', KEYS[1], 'rate'), redis.call('hget', KEYS[1], 'interval')
local kind = redis.call('hget', KEYS[1], 'type')
if not (rate and interval and kind) then
  return redis.error_reply('ERR RateLimiter is not initialized')
end
rate, interval = tonumber(rate), tonumber(interval)
local value, permits = KEYS[2], KEYS[4]
if kind == '1' then
  value, permits = KEYS[3], KEYS[5]
end
`;

/** A member carries its permits behind random bytes. */
const weigh = `
local function weigh(members)
  local sum = 0
  for _, member in ipairs(members) do
    local _, weight = struct.unpack('Bc0I', member)
    sum = sum + weight
  end
  return sum
end
`;

/** Each call copies the expiry of the config to the state; a call that ends before this line leaves it without one. */
const expire = `
local keepAlive = tonumber(redis.call('hget', KEYS[1], 'keepAliveTime') or 0)
if keepAlive > 0 then
  redis.call('pexpire', KEYS[1], keepAlive)
  redis.call('pexpire', value, keepAlive)
  redis.call('pexpire', permits, keepAlive)
else
  local left = redis.call('pttl', KEYS[1])
  if left > 0 then
    redis.call('pexpire', value, left)
    redis.call('pexpire', permits, left)
  end
end
`;

/** Old versions pass all expired members to one call, more than Lua's stack holds for thousands (#3526). */
const remove: Record<JvmVersion, string> = {
  '3.15.2': `redis.call('zrem', permits, unpack(expired))`,
  '3.34.1': `redis.call('zremrangebyscore', permits, 0, now - interval)`,
  '4.6': `redis.call('zremrangebyscore', permits, 0, now - interval)`,
};

/**
 * Expired permits are added to `value`, which is never compared with the log otherwise. If the sum is above the rate,
 * some versions count the log again: as many as the members (#5751), or by their permits.
 */
const add: Record<JvmVersion, string> = {
  '3.15.2': `left = left + released`,
  '3.34.1': `
    if left + released > rate then
      left = rate - redis.call('zcard', permits)
    else
      left = left + released
    end`,
  '4.6': `
    if left + released > rate then
      left = rate - weigh(redis.call('zrange', permits, 0, -1))
    else
      left = left + released
    end`,
};

/** `now` is the client's. */
function purge(version: JvmVersion, restore: string): string {
  return `
    local expired = redis.call('zrangebyscore', permits, 0, now - interval)
    local released = weigh(expired)
    if released > 0 then
      ${remove[version]}
      ${restore}
      redis.call('set', value, left)
    end
`;
}

/**
 * ARGV: permits, the client's time, its random bytes. Nothing if they are granted, otherwise the milliseconds until the
 * oldest member expires, whether that frees enough or not; without a member, the script fails on nil.
 */
export function acquireScript(version: JvmVersion): string {
  return `${begin}${weigh}
local asked, now = tonumber(ARGV[1]), tonumber(ARGV[2])
if asked > rate then
  return redis.error_reply('ERR Requested permits amount cannot exceed defined rate')
end
local left = redis.call('get', value)
local wait = false
if left then
  left = tonumber(left)
  ${purge(version, add[version])}
else
  left = rate
  redis.call('set', value, rate)
end
if left < asked then
  local oldest = redis.call('zrange', permits, 0, 0, 'withscores')
  wait = 3 + interval - (now - tonumber(oldest[2]))
else
  redis.call('zadd', permits, ARGV[2], struct.pack('Bc0I', #ARGV[3], ARGV[3], ARGV[1]))
  redis.call('decrby', value, ARGV[1])
end
${expire}
return wait
`;
}

/**
 * ARGV: the client's time. Expired permits are added without a check of the rate, and neither the `value` that it makes
 * nor the one that it changes gets an expiry.
 */
export function availableScript(version: JvmVersion): string {
  return `${begin}${weigh}
local now = tonumber(ARGV[1])
local left = redis.call('get', value)
if not left then
  redis.call('set', value, rate)
  return rate
end
left = tonumber(left)
${purge(version, 'left = left + released')}
return left
`;
}

/** ARGV: permits. They return to `value`, never above the rate; the log keeps them, and returns them once more. */
export const releaseScript = `${begin}
local left = tonumber(redis.call('get', value) or rate)
redis.call('set', value, math.min(rate, left + tonumber(ARGV[1])))
${expire}
`;

/** ARGV: rate, interval, type, keep-alive. */
export const trySetRateScript = `
local isNew = redis.call('exists', KEYS[1]) == 0
if isNew then
  redis.call('hset', KEYS[1], 'rate', ARGV[1], 'interval', ARGV[2], 'type', ARGV[3], 'keepAliveTime', ARGV[4])
  if tonumber(ARGV[4]) > 0 then
    redis.call('pexpire', KEYS[1], ARGV[4])
  end
end
return isNew and 1 or 0
`;

/**
 * ARGV: rate, interval, type, keep-alive, the client's time, whether to keep the state, whether only to update. It
 * ignores the state of other clients. A state that holds more than the new rate is written as 0, not as the difference.
 */
export const setRateScript = `${weigh}
if ARGV[7] == '1' and redis.call('exists', KEYS[1]) == 0 then
  return 0
end
local before = redis.call('hget', KEYS[1], 'type')
redis.call('hset', KEYS[1], 'rate', ARGV[1], 'interval', ARGV[2], 'type', ARGV[3], 'keepAliveTime', ARGV[4])
local rate, interval, keepAlive = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[4])
if keepAlive > 0 then
  redis.call('pexpire', KEYS[1], keepAlive)
end
local value, permits = KEYS[2], KEYS[4]
if ARGV[3] == '1' then
  value, permits = KEYS[3], KEYS[5]
end
if before and before ~= ARGV[3] then
  redis.call('del', KEYS[2], KEYS[3], KEYS[4], KEYS[5])
elseif ARGV[6] == '0' then
  redis.call('del', value, permits)
else
  redis.call('zremrangebyscore', permits, 0, tonumber(ARGV[5]) - interval)
  redis.call('set', value, math.max(0, rate - weigh(redis.call('zrange', permits, 0, -1))))
  ${expire}
end
return 1
`;
