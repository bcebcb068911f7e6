-- Runs one command on keys of the limiter, so that a client need only run scripts.
--
-- KEYS[…]  the keys of the command
-- ARGV[1]  its name
-- ARGV[…]  what follows its keys
--
-- Reply: the command's own.

local words = { ARGV[1] }
for _, key in ipairs(KEYS) do words[#words + 1] = key end
for i = 2, #ARGV do words[#words + 1] = ARGV[i] end
-- A few words: the keys and the fields of one limiter.
return redis.call(unpack(words))
