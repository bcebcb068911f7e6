/**
 * A throw-away script that does only what any exact decision must do: read a stored state, read the time, compare, and write
 * one number, or a new state with its expiry. It has the keys, arguments and reply of lua/decide.lua, so its time is the least
 * that a script in its place can take: the floor. It is no limiter: it knows no pause, no stored rate, no refund and no epoch, it
 * believes whatever the key holds, and each user has one window only.
 */
export const leastDecision = `
local state, time = redis.call('GET', KEYS[1]), redis.call('TIME')
local us = time[1] * 1000000 + time[2]
if not state then
  local permits, interval = ARGV[1]:match('^.(%d+),(%d+)')
  redis.call('SET', KEYS[1], struct.pack('<ddd', 1, us + interval * 1000, permits), 'PX', interval)
  return (permits - 1) * 2 ^ 33 + interval * 1000
end
local used, stop, permits = struct.unpack('<ddd', state)
if us >= stop or used >= permits then return -1 end
redis.call('SETRANGE', KEYS[1], '0', struct.pack('<d', used + 1))
return (permits - used - 1) * 2 ^ 33 + stop - us
`;
