-- How long the key has to live. It lives up to twice as long as needed, so that few calls have to renew its
-- expiry.

local till = full
-- A window on the clock: see saveLedger.
if kind == FIXED_KIND and extra == 1 then till = till + LEAST_LIFE end
if till < expires then till = expires end
if till < now + LEAST_LIFE then till = now + LEAST_LIFE end
if till > kept then
  -- Compared, since a call of math.min costs as much as ten comparisons.
  local slack, most = till - now, TIME_BOUND - 1 - till
  if slack > MOST_SLACK then slack = MOST_SLACK end
  if slack > most then slack = most end
  renewed = till - now + slack
  kept = now + renewed
end
