import { algebraOf } from '../../limits/states.ts';
import { newestGrants, type Refund } from '../store.ts';
import type { Instant, LedgerState } from './ledgerState.ts';

/** Takes grants and reservations back, once for each sequence of a limiter: says whether it did. The twin of `lua/refund.lua`. */
export function refund(
  ledger: LedgerState,
  { now, at }: Instant,
  line: string,
  refunds: readonly Refund[],
  sequence: number,
): boolean {
  const known = ledger.sequences.get(line);
  if (known && known.until > now && sequence <= known.last) return false;
  for (const { moment, epoch, cost, count } of refunds) {
    // What was granted before the epoch changed is counted in another way now, or not at all.
    if (moment !== newestGrants && epoch !== ledger.epoch) continue;
    cost.forEach((permits, i) => {
      const n = permits * count;
      const state = ledger.limits[i];
      if (n === 0) return;
      if (moment === newestGrants) algebraOf(state).release(state, now, at, n);
      else algebraOf(state).refund(state, now, moment + ledger.shift, n);
    });
  }
  return true;
}

/** A release takes from what is there when it comes, so it is remembered at least as long as it may be sent again: milliseconds. */
const resent = 60_000;

/**
 * Remembers the sequence for as long as the same call, made again, could take anything back: until all that stood before
 * it has come back, and for one interval more, as a window that it emptied may have started anew. Call it before the
 * ledger is closed.
 */
export function rememberSequence(
  ledger: LedgerState,
  { now }: Instant,
  line: string,
  refunds: readonly Refund[],
  sequence: number,
): void {
  for (const [name, { until }] of ledger.sequences) if (until <= now) ledger.sequences.delete(name);
  const longest = Math.max(...ledger.limits.map(({ interval }) => interval));
  const least = refunds.some(({ moment }) => moment === newestGrants) ? resent : 1;
  ledger.sequences.set(line, { last: sequence, until: Math.max(now + least, ledger.expires + longest) });
}
