-- How long the key has to live. It lives up to twice as long as needed, so that few calls have to renew its
-- expiry.

local till = full > expires and full or expires
if till < now + LEAST_LIFE then till = now + LEAST_LIFE end
if till > kept then
  renewed = till - now + math.min(till - now, MOST_SLACK, TIME_BOUND - 1 - till)
  kept = now + renewed
end
