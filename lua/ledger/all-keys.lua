-- A call with the ledger and the control only is made again with all keys if the fast path does not serve it.

if not KEYS[3] then return 0 end
