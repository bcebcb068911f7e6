-- Takes grants and reservations back, once for each sequence of a limiter. The twin of src/stores/memory/refund.ts.
--
-- KEYS[1]   the ledger
-- KEYS[2]   the limiter's last sequence
-- KEYS[3]   the control
-- KEYS[4…]  the log of each limit
--
-- ARGV[1]   the limits, and
-- ARGV[2]   whether they were stored, as in reserve.lua
-- ARGV[3]   the sequence
-- ARGV[4]   how many refunds follow: each is the granted moment in milliseconds, or NEWEST for what was granted last, the
--           epoch, a count, and the cost in permits for each limit
-- then, in tests only, the server's time in microseconds
--
-- Reply: the limits in force, as text, where they are others; else 1, or 0 where the sequence was known already.

-- @include "ledger/state"

local NEWEST = -1
-- A release takes from what is there when it comes, so it is remembered at least as long as it may be sent again:
-- milliseconds.
local RESENT = 60000

local logs = {}
for i = 4, #KEYS do logs[i - 3] = KEYS[i] end
local sequence, count, position = tonumber(ARGV[3]), tonumber(ARGV[4]), 5
local serverUs = serverTime(ARGV[position + count * (3 + #logs)])

local ledger, instant = openLedger(KEYS, ARGV[1], ARGV[2], logs, serverUs)
if not ledger then return instant end
local least = 1
local known = readKey('sequence of refunds', 'GET', KEYS[2])
local fresh = not known
if known then
  local whole, last, till = pcall(struct.unpack, '<dd', known)
  if not (whole and #known == 16 and inRange(math.min(last, till), last + till)) then refuseKey(KEYS[2], 'sequence of refunds') end
  fresh = till <= instant.now or sequence > last
end
if fresh then
  for _ = 1, count do
    local moment, epoch = tonumber(ARGV[position]), tonumber(ARGV[position + 1])
    local requests = tonumber(ARGV[position + 2])
    if moment == NEWEST then least = RESENT end
    -- What was granted before the epoch changed is counted in another way now, or not at all.
    if moment == NEWEST or epoch == ledger.epoch then
      for i, state in ipairs(ledger.limits) do
        local n, algebra = tonumber(ARGV[position + 2 + i]) * requests, algebraOf(state.kind)
        if n > 0 and moment == NEWEST then
          algebra.release(state, instant.now, instant.at, n)
        elseif n > 0 then
          algebra.refund(state, instant.now, moment + ledger.shift, n)
        end
      end
    end
    position = position + 3 + #logs
  end
end
if fresh then
  -- Remembered for as long as the same call, sent again, could take anything back: until all that stood before it has
  -- come back, and for one interval more, as a window that it emptied may have started anew.
  local till = instant.now + least
  for i = 1, #ledger.limits do till = math.max(till, ledger.expires + ledger.limits[i].interval) end
  -- Saved before the ledger: where that fails, what was given back goes on counting, and the call sent again gives nothing.
  writeLater('SET', KEYS[2], struct.pack('<dd', sequence, till), 'PX', string.format('%.0f', till - instant.now))
end
saveLedger(KEYS[1], ledger, instant)
return fresh and 1 or 0
