-- The version of what a ledger holds. What another one has written is refused.
local VERSION = 5
