-- The checksum of a limit's numbers. It is not 0 for zeros. By it, the fast path detects a changed number: that costs less than
-- a comparison with the text.
local checksum = permits + 2 * interval + 3 * extra + 1
