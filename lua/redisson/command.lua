-- Runs one command on keys of the limiter, so that a client need only run scripts.
--
-- KEYS[…]  the keys of the command: one, or several for UNLINK
-- ARGV[1]  its name
-- ARGV[…]  the fields of HMGET
--
-- Reply: the command's own.

local name = ARGV[1]
if name == 'HMGET' then return redis.call('HMGET', KEYS[1], unpack(ARGV, 2)) end
if name == 'PTTL' then return redis.call('PTTL', KEYS[1]) end
if name == 'EXISTS' then return redis.call('EXISTS', KEYS[1]) end
return redis.call('UNLINK', unpack(KEYS))
